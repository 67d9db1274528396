export const CATALOGUE_KINDS = ["event", "attribute", "product"] as const;

export type CatalogueKind = (typeof CATALOGUE_KINDS)[number];

/** The types that a value of a custom attribute may have. */
export const DATA_TYPES = [
  "string",
  "number",
  "boolean",
  "time",
  "array",
  "object",
  "object_array",
] as const;

export type DataType = (typeof DATA_TYPES)[number];
