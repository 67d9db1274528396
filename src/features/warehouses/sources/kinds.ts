import Type, { type TProperties, type TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { KeptSecrets } from "../../../core/admin/workspaces/resource.ts";
import { ClosedObject } from "../../../core/base/values/schemas.ts";
import type { HostAndPort } from "../../../core/outbound/outbound.ts";
import { OutsideRoot } from "../../../core/outbound/unfit.ts";
import { bigquerySource } from "./bigquery.ts";
import { databricksSource } from "./databricks.ts";
import { filesSource } from "./files.ts";
import { mysqlSource } from "./mysql.ts";
import { postgresSource, redshiftSource } from "./postgres.ts";
import { s3Source } from "./s3.ts";
import { snowflakeSource } from "./snowflake.ts";
import type { AnyKind, Opening, Source, TableList, Warehouse } from "./source.ts";

/** Every kind, as forms list them. */
export const KINDS: readonly AnyKind[] = [
  postgresSource,
  redshiftSource,
  snowflakeSource,
  bigquerySource,
  databricksSource,
  mysqlSource,
  filesSource,
  s3Source,
];

/** @throws Error: only a database of a newer version holds another type. */
export function kindOf({ type }: { readonly type: string }): AnyKind {
  const kind = KINDS.find((each) => each.type === type);
  if (!kind) throw new Error(`There is no kind of warehouse '${type}'.`);
  return kind;
}

const withRule = (rule: AnyKind["rule"], schema: TSchema): TSchema =>
  rule
    ? Type.Refine(
        schema,
        (settings) => rule.holds(settings),
        () => rule.sentence,
      )
    : schema;

/** A kind's settings in one object, as an administrator declares them inline. */
const inlineOf = (kind: AnyKind): TSchema => withRule(kind.rule, loginOf(kind, kind.place));

const loginOf = (kind: AnyKind, place: TProperties): TSchema =>
  withRule(
    kind.login,
    ClosedObject({ type: Type.Enum([kind.type]), ...kind.connection, ...place }),
  );

/**
 * The settings that an integration may add to a connection of any kind; `faultOfPlace` checks it by
 * the kind.
 */
const PLACES: TProperties = Object.fromEntries(
  KINDS.flatMap(({ place }) => Object.keys(place)).map((setting) => [
    setting,
    Type.Optional(
      Type.String({
        maxLength: 4_096,
        description: `As in the warehouses that have a '${setting}'.`,
      }),
    ),
  ]),
);

const ConnectionName = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "A connection of the company that lists this workspace.",
});

const ConnectedSchema = ClosedObject({
  type: Type.Optional(Type.Enum(["connection"])),
  connection: ConnectionName,
  ...PLACES,
});

/** A warehouse of which the place is open: it may be absent, or half of it is there. */
export const OpenWarehouseSchema = Type.Union(
  [
    ...KINDS.map((kind) =>
      loginOf(
        kind,
        Object.fromEntries(Object.keys(kind.place).map((name) => [name, PLACES[name] as TSchema])),
      ),
    ),
    ConnectedSchema,
  ],
  { description: "A connection of the company, or everything inline; its place may be absent." },
);

export const WarehouseSchema = Type.Union([...KINDS.map(inlineOf), ConnectedSchema], {
  description:
    "The source of its rows: a connection of the company, or everything inline, with credentials from the " +
    "environment.",
});

export const connectionSettingsOf = (kind: AnyKind): TProperties => ({
  ...kind.connection,
  ...kind.limits,
});

/** A connection of this kind, with what every connection has. */
export const connectionSchemaOf = (kind: AnyKind, common: TProperties): TSchema =>
  withRule(
    kind.login,
    ClosedObject({ ...common, type: Type.Enum([kind.type]), ...connectionSettingsOf(kind) }),
  );

/**
 * The secrets that a warehouse or connection has, and the settings that say where they belong: its
 * kind, and how it is reached. The rest of its place may change.
 */
export function keptSecretsOf(settings: Readonly<Record<string, unknown>>): KeptSecrets {
  const kind = KINDS.find(({ type }) => type === settings.type);
  const { secrets = [], free = [], hostIn = {} } = kind ?? {};
  const reached = kind ? Object.keys(connectionSettingsOf(kind)) : [];
  return {
    secrets: secrets.filter((setting) => setting in settings),
    destination: [
      "type",
      ...reached.filter((setting) => !free.includes(setting)),
      ...Object.keys(hostIn),
    ],
    partOf: (setting, value) => (typeof value === "string" && hostIn[setting]?.(value)) || value,
  };
}

const places = new Map<AnyKind, Validator>();

/** The fault of an integration's place in a connection of this kind, if any. */
export function faultOfPlace(kind: AnyKind, place: object): string | undefined {
  const compiled = places.get(kind) ?? Compile(withRule(kind.rule, ClosedObject(kind.place)));
  places.set(kind, compiled);
  const [error] = compiled.Errors(place);
  if (!error) return undefined;
  const field = error.instancePath.slice(1).replaceAll("/", ".");
  return `For a connection of type ${kind.type} the warehouse ${field ? `'${field}' ` : ""}${error.message}.`;
}

/** Where the rows are in the warehouse; no secrets. */
export const placeIn = (warehouse: Warehouse): string => kindOf(warehouse).placeOf(warehouse);

/** Identifies the rows: progress stays valid while this stays the same. */
export const placeOf = (warehouse: Warehouse): string => `${warehouse.type} ${placeIn(warehouse)}`;

/** The hosts that a source of this warehouse connects to; the guard checks them. */
export const hostsOf = (warehouse: Warehouse): readonly HostAndPort[] =>
  kindOf(warehouse).hostsOf(warehouse);

/** Whether a place is below the `root` of its connection, if that has one. */
export const isBelowRoot = (warehouse: Warehouse): boolean =>
  warehouse.root === undefined || (kindOf(warehouse).isBelowRoot?.(warehouse) ?? true);

/** @throws SourceUnfit; anything else is a failure that may pass. */
export async function openSource(warehouse: Warehouse, opening: Opening): Promise<Source> {
  if (!isBelowRoot(warehouse)) {
    throw new OutsideRoot(`There is no ${placeIn(warehouse)} in the connection's folder.`);
  }
  return kindOf(warehouse).open(warehouse, opening);
}

const listed = new Map<AnyKind, Validator>();

/**
 * What the first setting of a kind's place may be, by name, as far as that setting accepts it.
 *
 * @throws as `openSource`.
 */
export async function listTables(warehouse: Warehouse, opening: Opening): Promise<TableList> {
  const kind = kindOf(warehouse);
  const { tables, hasMore } = await kind.list(warehouse, opening);
  const check = listed.get(kind) ?? Compile(Object.values(kind.place)[0] as TSchema);
  listed.set(kind, check);
  return { tables: tables.filter((name) => check.Check(name)), hasMore };
}
