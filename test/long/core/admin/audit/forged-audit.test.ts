/*
 * A writer with every right on the database edits the audit. Any change of what the audit shows is
 * found by its check if a head was kept elsewhere, even if the forger recomputes the hashes.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ChainedEntry, chainTo } from "../../../../../src/core/admin/audit/chain.ts";
import {
  selectChain,
  selectEntries,
  selectHead,
} from "../../../../../src/core/admin/audit/store.ts";
import { verifyAudit } from "../../../../../src/core/admin/audit/verify.ts";
import type { Database, Transaction } from "../../../../../src/core/database/database.ts";
import { startOwnServer } from "../../../../harness.ts";
import { sized } from "../../../../sizes.ts";

const server = await startOwnServer();
await server.admin("PUT", "/admin/v1/workspaces/demo", {});
for (const name of ["one", "two", "three", "four"]) {
  await server.admin("PUT", `/admin/v1/workspaces/demo/teams/${name}`, {});
}
await server.admin("POST", "/admin/v1/workspaces/demo/api-keys", {
  name: "backend",
  permissions: ["users.track", "users.export.ids"],
  ip_allowlist: [],
});

const kept = (await selectHead(server.database))?.hash ?? "";
const UNFILTERED = {
  workspace: undefined,
  kind: undefined,
  name: undefined,
  of: undefined,
  by: undefined,
  since: undefined,
  until: undefined,
  text: undefined,
  before: undefined,
};

/** The contents of the list and the export. */
const shownIn = async (tx: Transaction): Promise<string> =>
  JSON.stringify([
    await selectEntries(tx, UNFILTERED, 10_000),
    await selectChain(tx, 0, undefined, 10_000),
  ]);

class Undone extends Error {}

interface Tried {
  readonly isIntact: boolean;
  readonly message: string;
  readonly changesWhatIsShown: boolean;
}

/**
 * Makes an edit, checks the audit, and undoes the edit. @returns undefined if the database refuses
 * it.
 */
async function tryEdit(edit: (tx: Transaction) => Promise<unknown>): Promise<Tried | undefined> {
  let tried: Tried | undefined;
  try {
    await server.database.transaction(async (tx) => {
      const before = await shownIn(tx);
      await edit(tx);
      const { brokenAt } = await verifyAudit({ database: within(tx) }, kept);
      const after = await shownIn(tx).catch(() => "nothing that can be shown");
      const message = brokenAt?.message ?? "";
      tried = { isIntact: !brokenAt, message, changesWhatIsShown: before !== after };
      throw new Undone();
    });
  } catch (error) {
    const isRefused = /^(?:22|23)/.test((error as { code?: string }).code ?? "");
    if (!(error instanceof Undone) && !isRefused) throw error;
  }
  return tried;
}

const within = (tx: Transaction): Database => ({ ...tx, for: () => tx }) as unknown as Database;

/** The same numbers for the same seed, between 0 and 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const entries = await selectChain(server.database, 0, undefined, 10_000);

/** Values that a column may be set to, as SQL. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  entry_id: ["gen_random_uuid()"],
  at: [
    "at + interval '1 microsecond'",
    "at - interval '999 microseconds'",
    "at + interval '1 millisecond'",
    "at - interval '1 day'",
    "'infinity'",
    "'0044-03-15 BC'",
  ],
  workspace: ["null", "'demo'", "'other'", "''"],
  action: ["'created'", "'removed'", "action || ' '"],
  kind: ["'team'", "kind || 's'"],
  name: ["''", "'forged'", "upper(name)"],
  details: [
    "null",
    "'{}'",
    "'[]'",
    `'{"name": "x"}'`,
    "(select jsonb_agg(jsonb_build_array(key, value) order by key) from jsonb_each(details))",
    `details || '{"more": []}'`,
    `details || '{"__proto__": {"a": 1}}'`,
    `replace(details::text, '[]', '{}')::jsonb`,
    `replace(details::text, '{}', '[]')::jsonb`,
    `replace(details::text, 'true', '"true"')::jsonb`,
  ],
  actor: ["'server'", "'administrator'", "'key'"],
  actor_name: ["null", "'eve'", "''"],
  call: ["null", "''", "'GET /'"],
  request_id: ["null", "gen_random_uuid()::text"],
  address: ["null", "'203.0.113.9'"],
  position: ["null", "0", "-1", "-position", "position + 1000000", "9007199254740993"],
  hash: ["null", "''", "repeat('0', 64)", "upper(hash)"],
};

const copy = (position: string, hash: string, where: string) =>
  `insert into audit_entries (entry_id, at, workspace, action, kind, name, details, actor, actor_name, call, request_id,
     address, position, hash)
   select gen_random_uuid(), at, workspace, action, kind, name, details, actor, actor_name, call, request_id, address,
     ${position}, ${hash} from audit_entries where ${where}`;

/** One random edit, in the words of SQL or with the hashes worked out again. */
function randomEdit(random: () => number): (tx: Transaction) => Promise<unknown> {
  const one = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const { position } = one(entries);
  const where = `position = ${position}`;
  const sql =
    (...statements: readonly string[]) =>
    async (tx: Transaction) => {
      for (const statement of statements) await tx.query(statement);
    };
  const setOne = () => {
    const column = one(Object.keys(VALUES));
    return `update audit_entries set ${column} = ${one(VALUES[column] ?? [])} where ${where}`;
  };
  const kinds = [
    () => sql(setOne()),
    () => sql(setOne(), setOne()),
    () => sql(`delete from audit_entries where ${where}`),
    () =>
      sql(
        `delete from audit_entries where ${where}`,
        `update audit_entries set position = -position where position > ${position}`,
        "update audit_entries set position = -position - 1 where position < 0",
        "update audit_heads set entries = entries - 1",
      ),
    () => sql(`delete from audit_entries where position >= ${position}`),
    () =>
      sql(
        `delete from audit_entries where position > ${position}`,
        `update audit_heads set entries = ${position}, hash = (select hash from audit_entries where ${where})`,
      ),
    () => sql(copy("null", "null", where), "update audit_heads set unchained = unchained + 1"),
    () => sql(copy("null", "hash", where)),
    () => sql(copy(`${-Math.floor(random() * 5)}`, "hash", where)),
    () =>
      sql(
        copy("(select entries + 1 from audit_heads)", "hash", where),
        one(["select 1", "update audit_heads set entries = entries + 1"]),
      ),
    () =>
      sql(
        `update audit_entries set position = null, hash = null where ${where}`,
        "update audit_heads set unchained = unchained + 1",
      ),
    () =>
      sql(
        copy("null", "null", where),
        `update audit_heads set unchained = unchained + 1,
         unchained_hash = ${UNCHAINED_HASH}`,
      ),
    () => sql(`delete from audit_heads`, setOne()),
    () => (tx: Transaction) => rebuild(tx, position, random() < 0.5),
  ];
  return one(kinds)();
}

const UNCHAINED_HASH = `(select encode(sha256(convert_to(coalesce(string_agg(jsonb_build_array(entry_id,
  extract(epoch from at), workspace, action, kind, name, details, actor, actor_name, call, request_id, address, hash)::text,
  E'\\n' order by entry_id), ''), 'UTF8')), 'hex') from audit_entries where position is null)`;

/** Changes a row and works out every hash from there on, as the server would. */
async function rebuild(tx: Transaction, from: number, renames: boolean): Promise<void> {
  const head = await selectHead(tx);
  assert.ok(head);
  const before = entries[from - 2];
  const changed = entries
    .slice(from - 1)
    .map(
      (entry, index): ChainedEntry =>
        index > 0 ? entry : { ...entry, ...(renames ? { name: "forged" } : { address: null }) },
    );
  const start = { ...head, entries: from - 1, hash: before?.hash ?? "" };
  for (const entry of chainTo(start, changed)) {
    await tx.query(
      "update audit_entries set name = $2, address = $3, hash = $4 where position = $1",
      [entry.position, entry.name, entry.address, entry.hash],
    );
    await tx.query("update audit_heads set hash = $1", [entry.hash]);
  }
}

describe("a writer of the database", () => {
  test("an edit of any column of an audit row is found with a kept head", async () => {
    const found = new Set<string>();
    for (const [column, values] of Object.entries(VALUES)) {
      for (const value of values) {
        for (const { position } of entries) {
          const sql = `update audit_entries set ${column} = ${value} where position = ${position}`;
          const tried = await tryEdit((tx) => tx.query(sql));
          if (!tried?.changesWhatIsShown) continue;
          assert.equal(tried.isIntact, false, `not found: ${sql}`);
          found.add(column);
          break;
        }
      }
    }
    // Each column was changed visibly at least once.
    assert.deepEqual([...found], Object.keys(VALUES));
  });

  test("random edits of the audit that change what it shows are all found with a kept head", async (context) => {
    const random = randomFrom(20_260_101);
    const figures = { tried: 0, refused: 0, changed: 0, harmless: 0 };
    const edits = sized(40, 1_000);
    while (figures.tried < edits) {
      const edit = randomEdit(random);
      const tried = await tryEdit(edit);
      figures.tried += 1;
      if (!tried) figures.refused += 1;
      else if (!tried.changesWhatIsShown) figures.harmless += 1;
      else {
        figures.changed += 1;
        assert.equal(tried.isIntact, false, `edit ${figures.tried} was not found: ${edit}`);
      }
    }
    context.diagnostic(JSON.stringify(figures));
    assert.ok(figures.changed > edits / 2, JSON.stringify(figures));
    assert.deepEqual((await verifyAudit({ database: server.database }, kept)).brokenAt, undefined);
  });

  test("a change of a row from before the chain is found", async () => {
    const database = server.database;
    const changed = database.transaction(async (tx) => {
      // As the upgrade of a version without a chain leaves them.
      await tx.query("update audit_entries set position = null, hash = null");
      await tx.query(
        `update audit_heads set entries = 0, hash = '', unchained = $1, unchained_hash = ${UNCHAINED_HASH}`,
        [entries.length],
      );
      const verify = () => verifyAudit({ database: within(tx) }, undefined);
      assert.equal((await verify()).brokenAt, undefined);
      await tx.query("update audit_entries set name = 'forged' where entry_id = $1", [
        entries[0]?.id,
      ]);
      assert.match((await verify()).brokenAt?.message ?? "", /before the chain was changed/);
      throw new Undone();
    });
    await assert.rejects(changed, Undone);
  });

  test("rows before the beginning or beside the chain, and times moved by less than a millisecond, are found", async () => {
    const cases: readonly [sql: string, says: RegExp][] = [
      [copy("0", "hash", "position = 1"), /before the beginning/],
      [copy("-7", "hash", "position = 1"), /before the beginning/],
      [
        "update audit_entries set at = at + interval '1 microsecond' where position = 2",
        /parts of a millisecond/,
      ],
      ["update audit_entries set at = 'infinity' where position = 2", /changed/],
      [
        `update audit_entries set details = (select jsonb_agg(jsonb_build_array(key, value) order by key)
          from jsonb_each(details)) where position = (select max(position) from audit_entries
          where jsonb_typeof(details) = 'object')`,
        /changed/,
      ],
    ];
    for (const [sql, says] of cases) {
      const tried = await tryEdit((tx) => tx.query(sql));
      assert.equal(tried?.isIntact, false, sql);
      assert.match(tried?.message ?? "", says);
    }
    const raised = await tryEdit(async (tx) => {
      await tx.query(copy("null", "null", "position = 1"));
      await tx.query(
        `update audit_heads set unchained = unchained + 1, unchained_hash = ${UNCHAINED_HASH}`,
      );
    });
    assert.equal(raised?.isIntact, false);
  });
});
