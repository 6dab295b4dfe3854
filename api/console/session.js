// What the browser keeps: the key for this tab's session only, the theme and earlier questions for longer.

const KEY = "quarry.key";
const QUESTIONS = "quarry.questions";
const NAMESPACE = "quarry.namespace";
const MOST_QUESTIONS = 50;

function read(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}

function write(storage, name, value) {
  try {
    if (value === null) storage.removeItem(name);
    else storage.setItem(name, value);
  } catch {
    // Storage that is full or switched off only means that nothing is remembered.
  }
}

let held = null;

export const key = {
  get: () => held ?? read(sessionStorage, KEY),
  set(value) {
    held = value;
    write(sessionStorage, KEY, value);
  },
};

export const theme = {
  get: () => document.documentElement.dataset.theme ?? null,
  set(name) {
    if (name === null) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    write(localStorage, "quarry.theme", name);
  },
};

/** The namespace that was used last, so that the next page begins with it. */
export const lastNamespace = {
  get: () => read(localStorage, NAMESPACE),
  set: (name) => write(localStorage, NAMESPACE, name),
};

/** Questions that were asked in this browser, the latest first: `{namespace, objective, context, filters, at}`. */
export const questions = {
  all() {
    try {
      const found = JSON.parse(read(localStorage, QUESTIONS) ?? "[]");
      return Array.isArray(found) ? found : [];
    } catch {
      return [];
    }
  },
  add(question) {
    const same = (other) => other.objective === question.objective && other.namespace === question.namespace;
    const kept = questions.all().filter((other) => !same(other));
    write(localStorage, QUESTIONS, JSON.stringify([question, ...kept].slice(0, MOST_QUESTIONS)));
  },
  clear: () => write(localStorage, QUESTIONS, null),
};
