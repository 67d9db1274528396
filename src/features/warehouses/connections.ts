import Type, { type TProperties, type TSchema } from "typebox";
import { sealedColumn } from "../../core/admin/secrets/rotate.ts";
import { Unopenable } from "../../core/admin/secrets/seal.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { Name } from "../../core/admin/workspaces/manifest.ts";
import { refuseGrowth } from "../../core/admin/workspaces/most-entries.ts";
import {
  type ConfigChange,
  describe,
  difference,
  type Resource,
  type ResourceServices,
} from "../../core/admin/workspaces/resource.ts";
import type { CompanyContext } from "../../core/base/context/context.ts";
import { distinctList } from "../../core/base/values/schemas.ts";
import type { Transaction } from "../../core/database/database.ts";
import { OutboundRefused } from "../../core/outbound/outbound.ts";
import { ReachRefused } from "../../core/outbound/reach-refused.ts";
import {
  deleteConnections,
  type StoredConnection,
  selectConnections,
  selectSealedConnections,
  updateSealedConnections,
  upsertConnections,
} from "./connection-store.ts";
import {
  connectionSchemaOf,
  connectionSettingsOf,
  hostsOf,
  KINDS,
  keptSecretsOf,
  kindOf,
} from "./sources/kinds.ts";

/*
 * The company declares once which sources workspaces may read: how a warehouse is reached, with
 * which credentials, and which workspaces may use it. Integrations name a connection; a role in a
 * workspace can do nothing else. decision: docs/decisions/connections.md
 */

/** A connection as declared: `name`, `type`, `workspaces`, and the settings of its kind. */
export interface Connection {
  readonly name: string;
  readonly type: string;
  readonly workspaces: readonly string[];
  readonly [setting: string]: unknown;
}

const Workspaces = distinctList(Name, {
  maxItems: 1_000,
  description: "The workspaces that may read through it.",
});

/** The part of a connection in replies: settings of any kind, without secrets. */
const SHOWN_SETTINGS: TProperties = Object.fromEntries(
  KINDS.flatMap((kind) =>
    Object.entries(connectionSettingsOf(kind))
      .filter(([setting]) => !kind.secrets.includes(setting))
      .map(([setting, schema]) => [
        setting,
        Type.Optional(
          Type.String({
            description: "As declared; secrets are never shown.",
            examples: (schema as { examples?: string[] }).examples ?? [],
          }),
        ),
      ]),
  ),
);

const schemaOf = (extra: TProperties): TSchema =>
  Type.Union(KINDS.map((kind) => connectionSchemaOf(kind, { ...extra, workspaces: Workspaces })));

const rowOf = (companyId: string, name: string): string => `connections ${companyId} ${name}`;

function settingsOf({
  name: _name,
  type: _type,
  workspaces: _workspaces,
  ...settings
}: Connection) {
  return settings;
}

async function seal(
  tx: Transaction,
  sealing: Sealing,
  companyId: string,
  connection: Connection,
  declared: boolean,
): Promise<StoredConnection> {
  const { name, type, workspaces } = connection;
  const { secrets } = kindOf(connection);
  const all = Object.entries(settingsOf(connection));
  const secret = all.filter(([setting]) => secrets.includes(setting));
  const plain = all.filter(([setting]) => !secrets.includes(setting));
  const text = JSON.stringify(Object.fromEntries(secret));
  return {
    name,
    type,
    workspaces,
    settings: Object.fromEntries(plain),
    sealed: secrets.length > 0 ? await sealing.seal(tx, text, rowOf(companyId, name)) : null,
    declared,
  };
}

/** A connection as declared. @throws Unopenable */
export function openConnection(
  sealing: Sealing,
  companyId: string,
  { name, type, workspaces, settings, sealed }: StoredConnection,
): Connection {
  const secret = sealed === null ? {} : JSON.parse(sealing.open(sealed, rowOf(companyId, name)));
  return { ...settings, ...secret, name, type, workspaces };
}

/** For comparisons: a connection that cannot be opened equals no declaration. */
function openForComparison(sealing: Sealing, companyId: string, stored: StoredConnection) {
  try {
    return openConnection(sealing, companyId, stored);
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    return { name: stored.name, type: stored.type, workspaces: [], unopenable: true };
  }
}

/** No secrets and no address: an audit row outlives what it describes. */
const detailsOf = ({ type, workspaces }: Connection) => ({ type, workspaces });

async function save(
  tx: Transaction,
  { sealing }: ResourceServices,
  { company }: CompanyContext,
  connections: readonly Connection[],
  isDeclared: (name: string) => boolean,
): Promise<void> {
  const stored: StoredConnection[] = [];
  for (const each of connections) {
    stored.push(await seal(tx, sealing, company.id, each, isDeclared(each.name)));
  }
  await upsertConnections(tx, company.id, stored);
}

const nameOf = ({ name }: { readonly name: string }): string => name;

const BOUNDED = { owner: "company", noun: "connections" } as const;

export const connections: Resource<CompanyContext> = {
  key: "connections",
  about:
    "The warehouses of the company: how each is reached, and which workspaces may read through it.",
  schema: schemaOf({ name: Name }),
  body: schemaOf({}),
  identity: "name",
  isFirst: true,
  permissions: { read: "manage_company_settings", write: "admin" },
  view: {
    name: Type.String({ description: "Its name, which integrations give." }),
    type: Type.String({ description: "The kind of warehouse." }),
    workspaces: Type.Array(Type.String(), {
      description: "The workspaces that may read through it.",
    }),
    ...SHOWN_SETTINGS,
    declared: Type.Boolean({ description: "Whether a manifest declared it." }),
  },

  async check({ outbound }, _workspaceName, entries: readonly Connection[]) {
    for (const [index, entry] of entries.entries()) {
      for (const { host, port } of hostsOf(entry)) {
        await outbound.check(host, port).catch((error: unknown) => {
          if (!(error instanceof OutboundRefused)) throw error;
          const path = ["connections", index];
          const reaching = { kind: "connection", name: entry.name };
          const message = `The connection '${entry.name}': ${error.message}`;
          throw new ReachRefused(reaching, "INVALID_REQUEST", message, { body: { path } });
        });
      }
    }
  },

  async apply(tx, services, context, entries: readonly Connection[]) {
    const { id } = context.company;
    const all = await selectConnections(tx, id);
    const present = all.map((each) => openForComparison(services.sealing, id, each));
    const before = present.filter((each, index) => all[index]?.declared || isNamed(entries, each));
    const todo = difference(before, entries, nameOf);
    const kept = all.length - before.length;
    refuseGrowth(BOUNDED, all.length, kept + entries.length);
    await deleteConnections(tx, id, todo.removed.map(nameOf));
    // Those that were created one by one belong to the manifest from now on, though nothing else changes.
    const created = new Set(all.filter((each) => !each.declared).map(nameOf));
    const adopted = entries.filter(
      (each) => created.has(each.name) && !todo.updated.includes(each),
    );
    await save(tx, services, context, [...todo.created, ...todo.updated, ...adopted], () => true);
    return describe("connection", "", todo, nameOf, detailsOf);
  },

  async declaration(database, { sealing, secret }, { company }) {
    const all = await selectConnections(database, company.id);
    return all.map(({ name, type, workspaces, settings, sealed }) => ({
      name,
      type,
      ...settings,
      ...secretNames(sealing, company.id, { name, type, sealed }, (setting) =>
        secret("connection", name, setting),
      ),
      workspaces,
    }));
  },

  async read(database, { company }) {
    const all = await selectConnections(database, company.id);
    return all.map(({ sealed: _sealed, settings, ...shown }) => ({ ...settings, ...shown }));
  },

  async present(database, { sealing }, { company }, { name }) {
    const all = await selectConnections(database, company.id);
    const stored = all.find((each) => each.name === name);
    if (!stored) return {};
    // Without the secrets if their key is lost: then they must be sent.
    const opened = openForComparison(sealing, company.id, stored);
    const { type, workspaces, settings } = stored;
    const { name: _name, ...present } =
      "unopenable" in opened ? { name, ...settings, type, workspaces } : opened;
    return present;
  },

  keptSecrets: keptSecretsOf,

  patchExample: { workspaces: ["demo", "shop"] },

  async put(tx, services, context, entry) {
    const wanted = entry as Connection;
    const { id } = context.company;
    const all = await selectConnections(tx, id);
    const known = all.find(({ name }) => name === wanted.name);
    const before = known ? [openForComparison(services.sealing, id, known)] : [];
    const todo = difference<Connection>(before, [wanted], nameOf);
    refuseGrowth(BOUNDED, all.length, all.length + todo.created.length);
    const changed = [...todo.created, ...todo.updated];
    await save(tx, services, context, changed, () => known?.declared ?? false);
    return describe("connection", "", todo, nameOf, detailsOf);
  },

  async remove(tx, _services, { company }, entry): Promise<ConfigChange[]> {
    await deleteConnections(tx, company.id, [entry.name as string]);
    return [{ action: "removed", kind: "connection", workspace: "", name: entry.name as string }];
  },
};

const isNamed = (entries: readonly Connection[], { name }: Connection): boolean =>
  entries.some((entry) => entry.name === name);

/** A variable for each secret that is set; for all secrets of the kind if it cannot be opened. */
function secretNames(
  sealing: Sealing,
  companyId: string,
  { name, type, sealed }: Pick<StoredConnection, "name" | "type" | "sealed">,
  variable: (setting: string) => string,
): Record<string, string> {
  const stored = { name, type, sealed, workspaces: [], settings: {}, declared: true };
  const opened = openForComparison(sealing, companyId, stored);
  const { secrets } = kindOf({ type });
  const set = "unopenable" in opened ? secrets : secrets.filter((each) => each in opened);
  return Object.fromEntries(set.map((setting) => [setting, variable(setting)]));
}

/**
 * The credentials of connections; credentials with a lost key stay until the connection is declared
 * again.
 */
export const connectionCredentials = sealedColumn({
  select: selectSealedConnections,
  valueIn: ({ companyId, name, sealed }) => ({ stored: sealed, place: rowOf(companyId, name) }),
  update: (tx, rows) =>
    updateSealedConnections(
      tx,
      rows.map(({ row, sealed }) => ({ ...row, sealed })),
    ),
});
