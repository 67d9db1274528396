/** Every place in a value, with the value there. */
export function* placesIn(
  value: unknown,
  place: readonly (string | number)[] = [],
): Generator<{ place: readonly (string | number)[]; value: unknown }> {
  yield { place, value };
  if (place.length === 4 || value === null || typeof value !== "object") return;
  const entries = Array.isArray(value) ? [[0, value[0]] as const] : Object.entries(value);
  for (const [name, each] of entries) yield* placesIn(each, [...place, name]);
}

/** A copy with another value at a place. */
export function withValue(
  whole: unknown,
  place: readonly (string | number)[],
  value: unknown,
): unknown {
  const [name, ...rest] = place;
  if (name === undefined) return value;
  if (Array.isArray(whole)) return [withValue(whole[0], rest, value), ...whole.slice(1)];
  const object = whole as Record<string, unknown>;
  return { ...object, [name]: withValue(object[name], rest, value) };
}
