/*
 * How long the lists are that a workspace or the company declares. Each list is filled in the database, with copies of an
 * entry that was created through the API.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startOwnServer } from "../../../../harness.ts";

const server = await startOwnServer();
await server.workspace();

type Members = Readonly<Record<string, unknown>>;

interface List {
  readonly key: string;
  readonly of?: "company";
  readonly table: string;
  /** Which rows of the table, besides those of the owner. */
  readonly rows?: string;
  /** The sentence that refuses one more. */
  readonly refusal: string;
  readonly most: number;
  entry(number: number): Members;
  /** What PUT requires and a manifest does not have. */
  readonly inPut?: Members;
  /** The member that is its identity; `id` by default. */
  readonly identity?: string;
  /** What a change of an entry changes; the name by default. */
  readonly edited?: Members;
  /** The columns in which a copy differs from the first entry. */
  copy(number: number): Members;
}

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const nameOf = (number: number) => `entry-${number}`;
const CAMPAIGN = randomUUID();

const LISTS: readonly List[] = [
  {
    key: "apps",
    table: "apps",
    refusal: "A workspace has at most 500 apps.",
    most: 500,
    entry: (number) => ({ id: idOf(number), name: nameOf(number), platform: "web" }),
    copy: (number) => ({ app_id: idOf(number) }),
  },
  {
    key: "subscription_groups",
    table: "subscription_groups",
    refusal: "A workspace has at most 6,000 subscription groups.",
    most: 6_000,
    entry: (number) => ({ id: idOf(number), name: nameOf(number), channel: "email" }),
    copy: (number) => ({ group_id: idOf(number) }),
  },
  {
    key: "teams",
    table: "teams",
    refusal: "A workspace has at most 500 teams.",
    most: 500,
    entry: (number) => ({ name: nameOf(number) }),
    identity: "name",
    edited: { id: "other" },
    copy: (number) => ({ team_id: idOf(number), name: nameOf(number) }),
  },
  {
    key: "locales",
    table: "locales",
    refusal: "A workspace has at most 500 locales.",
    most: 500,
    entry: (number) => ({
      id: idOf(number),
      name: "German",
      country: "Germany",
      language: "German",
      locale_key: `de-${number}`,
    }),
    copy: (number) => ({ locale_id: idOf(number), locale_key: `de-${number}` }),
  },
  {
    key: "segments",
    table: "segments",
    refusal: "A workspace has at most 500 segments.",
    most: 500,
    entry: (number) => ({
      id: idOf(number),
      name: nameOf(number),
      filter: { purchases: `product ${number}` },
    }),
    copy: (number) => ({ segment_id: idOf(number), name: nameOf(number) }),
  },
  {
    key: "integrations",
    table: "integrations",
    refusal: "A workspace has at most 500 integrations.",
    most: 500,
    entry: (number) => ({
      id: idOf(number),
      name: nameOf(number),
      type: "attributes",
      schedule: "* * * * *",
      warehouse: { type: "postgres", url: "postgres://sync:secret@127.0.0.1:1/shop", table: "t" },
    }),
    copy: (number) => ({ integration_id: idOf(number), name: nameOf(number) }),
  },
  {
    key: "webhooks",
    table: "webhooks",
    refusal: "A workspace has at most 20 webhooks.",
    most: 20,
    entry: (number) => ({
      id: idOf(number),
      name: nameOf(number),
      url: "https://crm.invalid/rapport",
      state: "paused",
    }),
    copy: (number) => ({ webhook_id: idOf(number), name: nameOf(number) }),
  },
  {
    key: "preference_centers",
    table: "preference_centers",
    refusal: "A workspace has at most 500 preference centers.",
    most: 500,
    entry: (number) => ({
      id: idOf(number),
      name: nameOf(number),
      page_html: "<form></form>",
      confirmation_html: "<p>Saved</p>",
    }),
    copy: (number) => ({ center_id: idOf(number), name: nameOf(number) }),
  },
  {
    key: "campaigns",
    table: "campaigns",
    rows: " and kind = 'campaign'",
    refusal: "A workspace has at most 5,000 campaigns.",
    most: 5_000,
    entry: (number) => ({ id: idOf(number), name: nameOf(number) }),
    copy: (number) => ({ campaign_id: idOf(number) }),
  },
  {
    key: "canvases",
    table: "campaigns",
    rows: " and kind = 'canvas'",
    refusal: "A workspace has at most 5,000 canvases.",
    most: 5_000,
    entry: (number) => ({ id: idOf(number), name: nameOf(number) }),
    inPut: { step_ids: [] },
    copy: (number) => ({ campaign_id: idOf(number) }),
  },
  {
    key: "permission_sets",
    of: "company",
    table: "permission_sets",
    refusal: "A company has at most 500 permission sets.",
    most: 500,
    entry: (number) => ({ name: nameOf(number), permissions: ["basic_access"] }),
    identity: "name",
    edited: { permissions: [] },
    copy: (number) => ({ name: nameOf(number) }),
  },
  {
    key: "connections",
    of: "company",
    table: "connections",
    refusal: "A company has at most 500 connections.",
    most: 500,
    entry: (number) => ({ name: nameOf(number), type: "files", root: "/srv/a", workspaces: [] }),
    identity: "name",
    edited: { root: "/srv/b" },
    copy: (number) => ({ name: nameOf(number) }),
  },
];

/** The owner of a list: its path, the column that holds it, and a manifest with entries of the list. */
async function ownerOf(list: Pick<List, "key" | "of">) {
  const [ids] = await server.database.query<{ id: string }>(
    "select company_id as id from companies",
  );
  if (list.of === "company") {
    const declare = (entries: readonly Members[]) => ({
      company: { name: "Test", [list.key]: entries },
      workspaces: [],
    });
    return { path: "/admin/v1", column: `company_id = '${ids?.id}'`, declare };
  }
  const { name } = await server.workspace({ allow_reset: true });
  const column = `workspace_id = (select workspace_id from workspaces where name = '${name}')`;
  const declare = (entries: readonly Members[]) => ({
    company: { name: "Test" },
    workspaces: [{ name, [list.key]: entries }],
  });
  return { path: `/admin/v1/workspaces/${name}`, column, declare };
}

/** Adds copies of a row of a list that differ from it in these columns. */
async function copyTo(table: string, where: string, rows: readonly Members[]): Promise<void> {
  await server.database.query(
    `insert into ${table} select (jsonb_populate_record(null::${table}, base || new)).*
     from (select to_jsonb(one) as base from ${table} one where ${where} limit 1) present,
       jsonb_array_elements($1::text::jsonb) new`,
    [JSON.stringify(rows)],
  );
}

const lengthOf = async (table: string, where: string): Promise<number> => {
  const [row] = await server.database.query<{ length: number }>(
    `select count(*)::int as length from ${table} where ${where}`,
  );
  return row?.length ?? 0;
};

describe("a list of a workspace or the company", () => {
  for (const list of LISTS) {
    const { key, table, most, refusal, identity = "id" } = list;

    test(`${key} beyond their limit are refused, one by one and in a manifest, and a longer list of an earlier version can be changed`, async () => {
      const { path, column, declare } = await ownerOf(list);
      const where = `${column}${list.rows ?? ""}`;
      const placeOf = (number: number) =>
        `${path}/${key.replaceAll("_", "-")}/${encodeURIComponent(`${list.entry(number)[identity]}`)}`;
      const put = (number: number, changes: Members = {}) => {
        const { [identity]: _id, ...body } = list.entry(number);
        return server.admin("PUT", placeOf(number), { ...body, ...list.inPut, ...changes });
      };
      const apply = (number: number) =>
        server.admin("POST", "/admin/v1/apply", declare([list.entry(number)]));
      const isRefused = ({ status, body }: { readonly status: number; readonly body: any }) =>
        assert.deepEqual([status, body.message], [400, refusal]);
      const isAccepted = ({ status, body }: { readonly status: number; readonly body: any }) =>
        assert.ok(status < 300, body.message);
      const copies = (from: number, to: number) =>
        Array.from({ length: to - from + 1 }, (_, index) => list.copy(from + index));

      await server.database.query(`delete from ${table} where ${where}`);
      isAccepted(await put(1));
      await copyTo(table, where, copies(2, most - 1));
      isAccepted(await put(most));

      isRefused(await put(most + 1));
      const applied = await apply(most + 1);
      isRefused(applied);
      assert.equal(applied.body.path.at(-1), key);

      // As an earlier version, which had no limit, may have stored them.
      await copyTo(table, where, copies(most + 1, most + 2));
      isAccepted(await put(1, list.edited ?? { name: "edited" }));
      isRefused(await put(most + 3));
      isAccepted(await apply(1));
      assert.equal(await lengthOf(table, where), most + 2);
      isAccepted(await server.admin("DELETE", placeOf(1)));
      assert.equal(await lengthOf(table, where), most + 1);
    });
  }

  test("a workspace has at most 10,000 messages", async () => {
    const { path, column, declare } = await ownerOf({ key: "campaigns" });
    const put = (number: number) =>
      server.admin("PUT", `${path}/messages/${idOf(number)}`, {
        campaign_id: CAMPAIGN,
        channel: "email",
        source: {},
      });
    await server.admin("PUT", `${path}/campaigns/${CAMPAIGN}`, { name: "Welcome" });
    assert.equal((await put(1)).status, 200);
    const copies = Array.from({ length: 9_999 }, (_, index) => ({ message_id: idOf(index + 2) }));
    await copyTo("messages", column, copies);
    const { status, body } = await put(10_001);
    const refusal = "A workspace has at most 10,000 messages.";
    assert.deepEqual([status, body.message], [400, refusal]);
    assert.equal((await put(1)).status, 200);
    const messages = [{ id: idOf(10_001), channel: "email", source: {} }];
    const manifest = declare([{ id: CAMPAIGN, name: "Welcome", messages }]);
    const applied = await server.admin("POST", "/admin/v1/apply", manifest);
    assert.deepEqual([applied.status, applied.body.message], [400, refusal]);
  });

  test("API keys have a limit that includes revoked ones, and a new key may take the name of a revoked one", async () => {
    const { path, column, declare } = await ownerOf({ key: "api_keys" });
    const create = async (name: string) => {
      const answer = await server.admin("POST", `${path}/api-keys`, { name, permissions: ["all"] });
      return [answer.status, answer.body.message];
    };
    const has = await lengthOf("api_keys", column);
    const copies = Array.from({ length: 499 - has }, (_, number) => ({
      key_id: idOf(number),
      name: nameOf(number),
      declared: false,
      declared_secrets: null,
    }));
    await copyTo("api_keys", column, copies);
    const refused = [400, "A workspace has at most 500 API keys, including revoked ones."];
    assert.equal((await create("last"))[0], 201);
    assert.deepEqual(await create("more"), refused);
    const key = "a-key-of-a-manifest-that-is-long-enough";
    const entries = ["one", "two"].map((name) => ({ name, key: key + name, permissions: ["all"] }));
    const { status, body } = await server.admin("POST", "/admin/v1/apply", declare(entries));
    assert.deepEqual([status, body.message], refused);
    await server.admin("DELETE", `${path}/api-keys/last`);
    assert.deepEqual(await create("more"), refused);
    assert.equal((await create("last"))[0], 201);
  });

  test("a company has at most 500 SCIM tokens", async () => {
    const create = async (name: string) => {
      const body = { name, service_origin: "idp.example" };
      const answer = await server.admin("POST", "/admin/v1/scim-tokens", body);
      return [answer.status, answer.body.message];
    };
    assert.equal((await create("first"))[0], 201);
    const copies = Array.from({ length: 499 }, (_, number) => ({
      token_id: idOf(number),
      name: nameOf(number),
    }));
    await copyTo("scim_tokens", "name = 'first'", copies);
    const refused = [400, "A company has at most 500 SCIM tokens, including revoked ones."];
    assert.deepEqual(await create("more"), refused);
  });

  test("a preference center beyond the limit is refused by the public API, too", async () => {
    const workspace = await server.workspace();
    const column = `workspace_id = (select workspace_id from workspaces where name = '${workspace.name}')`;
    const copies = Array.from({ length: 499 }, (_, number) => ({
      center_id: idOf(number),
      name: nameOf(number),
    }));
    await copyTo("preference_centers", column, copies);
    const { status, body } = await workspace.call<any>("POST", "/preference_center/v1", {
      name: "one-more",
      preference_center_title: "Choices",
      preference_center_page_html: "<form></form>",
      confirmation_page_html: "<p>Saved</p>",
    });
    assert.deepEqual(
      [status, body.message],
      [400, "A workspace has at most 500 preference centers."],
    );
  });
});
