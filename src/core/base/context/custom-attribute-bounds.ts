/* How much custom attributes may hold. docs/decisions/values.md, docs/decisions/quotas.md */

/** Characters of a name, and of a key or a text anywhere in a value. */
export const MOST_CHARACTERS = 255;

/** Elements of an array of scalars; a longer one is a fault, and no element is ever dropped. */
export const MOST_ELEMENTS = 500;

/** Bytes of an object, or of an array of objects, as compact JSON: 100 KB. */
export const MOST_OBJECT_BYTES = 102_400;

/** Bytes of JSON of all custom attributes of a profile: the setting `profile_max_bytes`. */
export const PROFILE_BYTES = { minimum: 1_024, maximum: 16_777_216, default: 1_048_576 };

/** Distinct names in a workspace: the setting `max_attribute_names`. */
export const ATTRIBUTE_NAMES = { minimum: 1, maximum: 100_000, default: 5_000 };
