// Numbers, dates and documents as people read them.

import { isRaw } from "./exact.js";

const whole = new Intl.NumberFormat("en");
const precise = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

export const number = (value) => whole.format(value);

export function bytes(size) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = size;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const seconds = (milliseconds) =>
  milliseconds < 10_000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.round(milliseconds / 1000)} s`;

export const moment = (iso) => (iso ? precise.format(new Date(iso)) : "");

/** A calendar date where `value` begins with one, else null. */
export function dateOf(value) {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d/.test(value)) return null;
  const read = new Date(value.length === 10 ? `${value}T00:00:00Z` : value);
  return Number.isNaN(read.getTime()) ? null : day.format(read);
}

const TITLES = ["title", "name", "subject", "headline", "heading"];
const DATES = ["date", "published", "published_at", "created", "created_at", "updated_at", "timestamp"];
const LONG = 120;

/** What a document is called: the attribute that looks like a title, else its id. */
export function titleOf(attributes, id) {
  for (const name of TITLES) {
    const value = attributes?.[name];
    if (typeof value === "string" && value.trim()) return value.trim();
  }
  return id;
}

/** The attribute that dates a document, as `[name, date]`, or null: a datetime of the schema before a likely name. */
export function dated(attributes, schema = {}) {
  const declared = Object.keys(schema).filter((name) => schema[name].type === "datetime");
  for (const name of [...declared, ...DATES]) {
    const date = dateOf(attributes?.[name]);
    if (date) return [name, date];
  }
  return null;
}

/** Short attributes worth a glance: not the title, the date, the id or what is long. Lists become one text. */
export function facts(attributes, schema = {}) {
  const shown = new Set(["id", dated(attributes, schema)?.[0]]);
  const title = titleOf(attributes, "");
  const found = [];
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (shown.has(name) || value === null || (typeof value === "object" && !Array.isArray(value) && !isRaw(value))) continue;
    const text = plain(value);
    if (!text || text === title || text.length > LONG) continue;
    found.push([name, text]);
  }
  return found;
}

/** A value as one text: lists with commas, objects as JSON. */
export function plain(value) {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (isRaw(value)) return value.rawJSON;
  if (Array.isArray(value) && value.every((one) => typeof one !== "object" || isRaw(one))) return value.map(plain).join(", ");
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}
