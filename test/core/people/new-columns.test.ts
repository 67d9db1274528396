/*
 * The fate of a column that a migration adds to a table of user data. Backup, erasure and retention
 * work on whole rows and carry it. Statements that insert rows, including those of merges and
 * imports, and exports name their columns: here each of them complains until it names the new one.
 * The test adds a column to every such table of a separate server, and sees each complain or carry
 * it. A new table is found by its column `bucket`.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sweepDeletedWorkspaces } from "../../../src/core/admin/workspaces/delete-workspace.ts";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { dumpDatabase, readTables } from "../../../src/core/database/backup/dump-database.ts";
import { MOVED_TABLES } from "../../../src/core/people/activity/moves-store.ts";
import {
  RETAINED_EVENTS,
  RETAINED_PURCHASES,
} from "../../../src/core/people/activity/retention-store.ts";
import { startOwnServer } from "../../harness.ts";

const ADDED = "added_by_test";

/** The files that read a table for an export, and the columns that no export shows. */
const EXPORTED: Readonly<Record<string, { files: readonly string[]; not: readonly string[] }>> = {
  // `version` and `updated_at` describe how Rapport came to the row, and `name_words` repeats names.
  profiles: {
    files: ["core/people/profiles/export-store.ts"],
    not: ["version", "updated_at", "name_words"],
  },
  // `origin_id` is where an undo takes the row back to.
  events: { files: ["features/export/rows-store.ts"], not: ["event_id", "origin_id"] },
  purchases: { files: ["features/export/rows-store.ts"], not: ["purchase_id", "origin_id"] },
  event_summaries: { files: ["features/export/small-activity-store.ts"], not: [] },
  purchase_summaries: { files: ["features/export/small-activity-store.ts"], not: [] },
  app_usages: { files: ["features/export/small-activity-store.ts"], not: [] },
  devices: { files: ["features/export/small-activity-store.ts"], not: [] },
  interactions: { files: ["features/export/small-activity-store.ts"], not: [] },
  group_states: { files: ["features/export/rows-store.ts"], not: [] },
  // `previous` is the state before it in the history.
  email_states: { files: ["features/export/rows-store.ts"], not: ["previous"] },
};

/** Tables that no export shows, with the reason. */
const NOT_EXPORTED: Readonly<Record<string, string>> = {
  identifiers: "repeats what profiles hold",
  idempotency_keys: "the responses of requests",
  message_history: "shown by the timeline and the record of a user",
  hard_bounces: "GET /email/hard_bounces lists them",
  joined_spellings: "GET /admin/v1/workspaces/{name}/joined-spellings lists them",
  group_state_changes: "the subscription history lists them",
  email_state_changes: "the subscription history lists them",
  merged_profiles: "leads from the ids of merged profiles to others",
  identity_audit: "the identity audit lists it",
  merge_records: "the list of merges has their names, and an undo their values",
  change_heads: "counts the changes of the feed",
  change_batches: "the change feed lists them",
  erased_people: "hides their changes until those are deleted",
};

interface Column {
  readonly name: string;
  readonly type: string;
}

const server = await startOwnServer();

/** The tables of user data with their columns. */
async function userTables(): Promise<Map<string, readonly Column[]>> {
  const tables = await readTables(server.database);
  return new Map(
    tables
      .filter(({ table, columns }) => table !== "buckets" && columns.some(isBucket))
      .map(({ table, columns }) => [table, columns]),
  );
}

const isBucket = ({ name }: Column): boolean => name === "bucket";

const SOURCES = join(packageRoot(), "src");

const stores = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith("store.ts"))
  .map((path) => ({ path, text: readFileSync(join(SOURCES, path), "utf8") }));

interface Insert {
  readonly path: string;
  readonly table: string;
  readonly columns: readonly string[];
}

/** Every statement that inserts rows, with the columns it names. */
const inserts: readonly Insert[] = [
  ...stores.flatMap(({ path, text }) =>
    [...text.matchAll(/insert into ([a-z_]+)(?: as \w+)?\s*\(([^)$]*)\)/g)].map(
      ([, table = "", columns = ""]) => ({ path, table, columns: columns.split(/[\s,]+/) }),
    ),
  ),
  ...stores.flatMap(({ path, text }) =>
    [...text.matchAll(/ setterOf<\w+>\(\s*"([a-z_]+)",([\s\S]*?)\n\);/g)].map(
      ([, table = "", columns = ""]) => ({
        path,
        table,
        columns: [
          ...["workspace_id", "bucket", "profile_id"],
          ...[...columns.matchAll(/\["([a-z_]+)", "/g)].map(([, name = ""]) => name),
        ],
      }),
    ),
  ),
  ...MOVED_TABLES.map(({ name, columns }) => ({
    path: "core/people/activity/moves-store.ts",
    table: name,
    columns: ["workspace_id", "bucket", "profile_id", "origin_id", ...Object.keys(columns)],
  })),
];

/** Columns of rows that change later: a merge or its undo fills them. */
const FILLED_LATER: readonly string[] = ["origin_id", "ended", "undone_at"];

const MOVES = "core/people/activity/moves-store.ts";

/** The columns of a table that some statement which inserts its rows leaves out. */
const leftOut = (table: string, columns: readonly Column[]): string[] =>
  inserts
    .filter((insert) => insert.table === table)
    .flatMap((insert) =>
      columns
        .filter(({ name }) => !insert.columns.includes(name))
        .filter(({ name }) => insert.path === MOVES || !FILLED_LATER.includes(name))
        .map(({ name }) => `${insert.path} inserts into ${table} without ${name}`),
    );

/** The columns of a table that exports neither show nor are known to leave out. */
function notExported(table: string, columns: readonly Column[]): string[] {
  if (NOT_EXPORTED[table] !== undefined) return [];
  const { files, not } = EXPORTED[table] ?? { files: [], not: [] };
  const text = files.map((file) => readFileSync(join(SOURCES, file), "utf8")).join("\n");
  return columns
    .map(({ name }) => name)
    .filter((name) => !["workspace_id", "bucket", "profile_id", ...not].includes(name))
    .filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
    .map((name) => `no export shows ${table}.${name}`);
}

const VALUES: Readonly<Record<string, () => unknown>> = {
  integer: () => 1,
  smallint: () => 0,
  bigint: () => 1,
  numeric: () => 1,
  boolean: () => true,
  text: () => `text ${randomUUID()}`,
  uuid: () => randomUUID(),
  json: () => "{}",
  jsonb: () => "{}",
  "integer[]": () => "{}",
  "text[]": () => "{}",
  "uuid[]": () => "{}",
  date: () => "2020-01-01",
  "timestamp with time zone": () => "2020-01-01T00:00:00Z",
  identifier_kind: () => "external_id",
};

/** Inserts a row of a workspace into each table. */
async function fillEach(
  workspaceId: number,
  tables: ReadonlyMap<string, readonly Column[]>,
): Promise<void> {
  for (const [table, columns] of tables) {
    const values = columns.map(({ name, type }) => {
      if (name === "workspace_id") return workspaceId;
      const value = VALUES[type];
      assert.ok(value, `Enter a value of the type ${type} in VALUES.`);
      return value();
    });
    const names = columns.map(({ name }) => name).join(", ");
    const typed = columns.map(({ type }, index) => `$${index + 1}::text::${type}`).join(", ");
    await server.database.query(
      `insert into ${table} (${names}) values (${typed})`,
      values.map(String),
    );
  }
}

async function workspaceIdOf(name: string): Promise<number> {
  const [row] = await server.database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [name],
  );
  return row?.id ?? 0;
}

/** The tables that hold rows of a workspace. */
async function filled(
  workspaceId: number,
  tables: ReadonlyMap<string, unknown>,
  condition = "true",
): Promise<string[]> {
  const found: string[] = [];
  for (const table of tables.keys()) {
    const [row] = await server.database.query<{ rows: number }>(
      `select count(*)::int as rows from ${table} where workspace_id = $1 and ${condition}`,
      [workspaceId],
    );
    if (row && row.rows > 0) found.push(table);
  }
  return found;
}

/**
 * A reset keeps declared and administered things, and counters, none of which contain anything
 * about users.
 */
const KEPT_BY_RESET = [
  "api_keys",
  "apps",
  "campaigns",
  "capture_heads",
  // A reader from before learns that something is missing.
  "change_heads",
  // How far the counts of the overview are; a new one comes within seconds.
  "customer_recounts",
  "deleted_workspaces",
  "external_id_removals",
  "integrations",
  "jobs",
  // Only when something was removed.
  "live_request_erasures",
  "locales",
  "mail_times",
  "message_translations",
  "messages",
  "preference_centers",
  "removed_profiles",
  "schedules",
  "segments",
  "subscription_groups",
  "teams",
  "traffic_counts",
  "webhooks",
];

describe("the reset of a workspace", () => {
  test("a reset empties every table that has a workspace, except the tables of declared resources", async () => {
    const workspace = await server.workspace();
    const id = await workspaceIdOf(workspace.name);
    const tables = new Map(
      (await readTables(server.database))
        .filter(({ columns }) => columns.some(({ name }) => name === "workspace_id"))
        .filter(({ table }) => table !== "workspaces")
        .map(({ table, columns }) => [table, columns]),
    );
    const empty = new Map([...tables].filter(([table]) => !KEPT_BY_RESET.includes(table)));
    assert.ok(empty.size > (await userTables()).size);
    await fillEach(id, empty);
    assert.deepEqual(await filled(id, empty), [...empty.keys()]);
    const reset = await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.equal(reset.status, 200);
    assert.deepEqual(
      await filled(id, empty),
      [],
      "Delete its rows in an eraser (ERASERS in server/app.ts), or enter it in KEPT_BY_RESET.",
    );
    const unknown = KEPT_BY_RESET.filter((table) => !tables.has(table));
    assert.deepEqual(unknown, [], "there is no such table");
  });
});

describe("the deletion of a workspace", () => {
  test("a deletion empties every table that has a workspace, and the sweep removes rows that were written meanwhile", async () => {
    const workspace = await server.workspace();
    const id = await workspaceIdOf(workspace.name);
    const tables = new Map(
      (await readTables(server.database))
        .filter(({ columns }) => columns.some(({ name }) => name === "workspace_id"))
        .filter(({ table }) => !["workspaces", "deleted_workspaces"].includes(table))
        .map(({ table, columns }) => [table, columns]),
    );
    assert.ok(tables.size > KEPT_BY_RESET.length);
    await fillEach(id, tables);
    const deletion = await server.admin("DELETE", `/admin/v1/workspaces/${workspace.name}`);
    assert.equal(deletion.status, 200);
    assert.deepEqual(await filled(id, tables), []);

    await fillEach(id, tables);
    await sweepDeletedWorkspaces(server.database, new Date(Date.now() + 2 * 3_600_000));
    assert.deepEqual(await filled(id, tables), []);
  });
});

describe("a column of a table of user data", () => {
  test("every column is named by all statements that insert its rows, merges and imports included", async () => {
    const tables = await userTables();
    assert.ok(tables.size > 15);
    for (const table of tables.keys()) {
      assert.ok(
        inserts.some((insert) => insert.table === table),
        `nothing inserts into ${table}`,
      );
    }
    assert.deepEqual(
      [...tables].flatMap(([table, columns]) => leftOut(table, columns)),
      [],
    );
  });

  test("every column is exported, or known to be left out of exports", async () => {
    const tables = await userTables();
    assert.deepEqual(
      [...tables].flatMap(([table, columns]) => notExported(table, columns)),
      [],
    );
    const listed = [...Object.keys(EXPORTED), ...Object.keys(NOT_EXPORTED)];
    assert.deepEqual(
      listed.filter((table) => !tables.has(table)),
      [],
      "there is no such table",
    );
  });

  test("a column added to any table is missed by what inserts and exports its rows, and carried by backup, erasure and retention", async () => {
    const workspace = await server.workspace();
    const id = await workspaceIdOf(workspace.name);
    for (const table of (await userTables()).keys()) {
      await server.database.query(`alter table ${table} add column ${ADDED} text`);
    }
    const tables = await userTables();
    for (const [table, columns] of tables) {
      assert.ok(leftOut(table, columns).length > 0, `inserts into ${table}`);
      if (NOT_EXPORTED[table] === undefined) {
        assert.deepEqual(notExported(table, columns), [`no export shows ${table}.${ADDED}`]);
      }
    }

    await fillEach(id, tables);
    assert.deepEqual(await filled(id, tables, `${ADDED} is not null`), [...tables.keys()]);
    const carried = new Set<string>();
    let dumped = "";
    await dumpDatabase(
      server.database,
      "test",
      {
        header: async () => {},
        table: async ({ table, columns }) => {
          dumped = columns.some(({ name }) => name === ADDED) ? table : "";
        },
        rows: async (rows) => {
          if (dumped && rows.some((row) => JSON.parse(row).at(-1) !== null)) carried.add(dumped);
        },
      },
      () => {},
    );
    assert.deepEqual([...carried], [...tables.keys()]);

    const reset = await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.equal(reset.status, 200);
    const left = await filled(id, tables);
    assert.deepEqual(
      left.filter((table) => !KEPT_BY_RESET.includes(table)),
      [],
    );

    const old = { external_id: "ada", time: "2020-01-01T00:00:00Z" };
    await workspace.track({
      events: [{ ...old, name: "opened" }],
      purchases: [{ ...old, product_id: "book", currency: "EUR", price: 1 }],
    });
    for (const table of ["events", "purchases"]) {
      await server.database.query(`update ${table} set ${ADDED} = 'kept' where workspace_id = $1`, [
        id,
      ]);
    }
    await server.database.transaction(async (tx) => {
      for (const { removeStep } of [RETAINED_EVENTS, RETAINED_PURCHASES]) {
        assert.equal((await removeStep(tx, id, new Date(), undefined)).removed, 1);
      }
    });
    const kept = await filled(id, tables, `${ADDED} is not null`);
    assert.deepEqual(kept, ["change_heads"]);
  });
});
