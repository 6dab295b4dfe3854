// What the key of this page may do, as `GET /v1/server` told.

let known = { scopes: [], server: null };

export function learn(about) {
  known = { scopes: about.key.scopes, server: about };
}

export function forget() {
  known = { scopes: [], server: null };
}

export const may = (scope) => known.scopes.includes("admin") || known.scopes.includes(scope);
export const server = () => known.server;
