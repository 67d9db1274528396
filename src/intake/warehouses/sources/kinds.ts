import Type from "typebox";
import { filesSource } from "./files.ts";
import { postgresSource } from "./postgres.ts";
import { s3Source } from "./s3.ts";
import type { Source, SourceKind } from "./source.ts";

/** Where rows are read from: what an integration's `warehouse` is in the manifest. */
export interface Warehouse {
  readonly type: string;
  readonly [setting: string]: unknown;
}

const KINDS: Readonly<Record<string, SourceKind<never>>> = {
  postgres: postgresSource,
  redshift: postgresSource,
  files: filesSource,
  s3: s3Source,
};

/** What a `warehouse` of any kind looks like. */
export const WarehouseSchema = Type.Union(
  [...new Set(Object.values(KINDS))].map((kind) => kind.schema),
  { description: "Where its rows are read from. Read credentials from the environment." },
);

const kindOf = ({ type }: Warehouse): SourceKind<Warehouse> => {
  const kind = KINDS[type];
  if (!kind) throw new Error(`There is no kind of warehouse '${type}'.`);
  return kind as SourceKind<Warehouse>;
};

/** Where in the warehouse the rows are; nothing secret. */
export const placeIn = (warehouse: Warehouse): string => kindOf(warehouse).placeOf(warehouse);

/** What the rows belong to: progress holds as long as this stays the same. */
export const placeOf = (warehouse: Warehouse): string => `${warehouse.type} ${placeIn(warehouse)}`;

/** @throws SourceUnfit; anything else is a failure that may pass. */
export const openSource = (warehouse: Warehouse, signal: AbortSignal): Promise<Source> =>
  kindOf(warehouse).open(warehouse, signal);
