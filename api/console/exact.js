// JSON whose whole numbers keep every digit: beyond 2^53 JavaScript's own numbers would round them.

/** `text` as values; a whole number that JavaScript cannot hold stays as it is written (`JSON.rawJSON`). */
export function parseExact(text) {
  // Browsers without `rawJSON` give no source either; they round, as they always have.
  if (!JSON.rawJSON) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) => {
    const isRounded = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    return isRounded && /^-?\d+$/.test(context.source) ? JSON.rawJSON(context.source) : value;
  });
}

/** Whether `value` is such a number. */
export const isRaw = (value) => Boolean(JSON.isRawJSON?.(value));
