/* The stream of all rows of a workspace. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { byAlias, id, TIME } from "../core/people/identity/identity-calls.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../harness.ts";

const server = await startServer();

const pathOf = ({ name }: TestWorkspace, kind: string, query = "") =>
  `/admin/v1/workspaces/${name}/export/${kind}${query}`;

async function rowsOf(workspace: TestWorkspace, kind: string, query = ""): Promise<any[]> {
  const { status, body } = await server.admin("GET", pathOf(workspace, kind, query));
  assert.equal(status, 200, JSON.stringify(body));
  const lines = body
    .trimEnd()
    .split("\n")
    .map((line: string) => JSON.parse(line));
  const rows = lines.slice(0, -1);
  assert.deepEqual(lines.at(-1), { export: { complete: true, rows: rows.length } });
  return rows;
}

describe("an export", () => {
  test("has every row of each kind as it was sent", async () => {
    const workspace = await server.workspace();
    const event = { name: "e", time: TIME, properties: { a: [{ b: 1 }] } };
    const purchase = { product_id: "p", currency: "EUR", price: 12.34, quantity: 3, time: TIME };
    const group = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
    await workspace.track({
      attributes: [
        { ...id("ada"), email: "Ada@example.com", color: "red", subscription_groups: [group] },
        { ...byAlias("bob"), _update_existing_only: false, color: "blue" },
        { email: "eve@example.com", _update_existing_only: false, email_subscribe: "opted_in" },
      ],
      events: [
        { ...id("ada"), ...event },
        { ...byAlias("bob"), name: "f", time: TIME },
      ],
      purchases: [{ ...id("ada"), ...purchase }],
    });
    const users = await rowsOf(workspace, "users");
    assert.deepEqual(users.map((user) => user.custom_attributes.color).sort(), [
      "blue",
      "red",
      undefined,
    ]);
    const events = await rowsOf(workspace, "events");
    assert.deepEqual(
      events.sort((one, other) => (one.name < other.name ? -1 : 1)),
      [
        { ...id("ada"), ...event },
        { ...byAlias("bob"), name: "f", time: TIME },
      ],
    );
    assert.deepEqual(await rowsOf(workspace, "purchases"), [{ ...id("ada"), ...purchase }]);
    const states = await rowsOf(workspace, "subscriptions");
    assert.deepEqual(
      states.map(({ changed_at: _at, ...state }) => state),
      [
        { ...id("ada"), ...group },
        { email: "eve@example.com", subscription_state: "opted_in" },
      ],
    );
    const empty = await server.workspace();
    for (const kind of ["users", "events", "purchases", "subscriptions"])
      assert.deepEqual(await rowsOf(empty, kind), []);
  });

  test("holds only the rows of the period and of the users with the attributes asked for", async () => {
    const workspace = await server.workspace();
    const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
    await workspace.track({
      attributes: [
        { ...id("ada"), plan: "pro", seats: 3, country: "DE" },
        { ...id("bob"), plan: "free", seats: 3, country: "DE" },
      ],
      events: [1, 2, 3].flatMap((day) =>
        ["ada", "bob"].map((name) => ({ ...id(name), name: `e${day}`, time: at(day) })),
      ),
    });
    const names = async (kind: string, query: string) =>
      (await rowsOf(workspace, kind, query)).map((row) => row.name ?? row.external_id).sort();
    assert.deepEqual(await names("users", "?attribute=plan=pro"), ["ada"]);
    assert.deepEqual(await names("users", "?attribute=seats=3&attribute=country=DE"), [
      "ada",
      "bob",
    ]);
    assert.deepEqual(await names("users", "?attribute=seats=%223%22"), []);
    assert.deepEqual(await names("users", "?until=2000-01-01"), []);
    const period = `?since=${at(2)}&until=${at(3)}&attribute=plan=pro`;
    assert.deepEqual(await names("events", period), ["e2"]);
    for (const query of [
      "?since=never",
      "?attribute=plan",
      "?attribute=email=x",
      "?attribute==x",
    ]) {
      const { status } = await server.admin("GET", pathOf(workspace, "users", query));
      assert.equal(status, 400, query);
    }
    assert.equal((await server.admin("GET", pathOf(workspace, "others"))).status, 400);
  });

  test("an attribute filter finds a value in a list, and says which attributes can be asked for", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        { ...id("ada"), tags: ["x", "y"], seats: [1, 2] },
        { ...id("bob"), tags: "x" },
        { ...id("eve"), tags: ["xx"], seats: 1 },
      ],
    });
    const names = async (query: string) =>
      (await rowsOf(workspace, "users", query)).map((row) => row.external_id).sort();
    assert.deepEqual(await names("?attribute=tags=x"), ["ada", "bob"]);
    assert.deepEqual(await names("?attribute=tags=x&attribute=seats=2"), ["ada"]);
    assert.deepEqual(await names(`?attribute=${encodeURIComponent('tags=["x"]')}`), ["ada"]);
    const path = pathOf(workspace, "users", "?attribute=email_subscribe=opted_in");
    const { status, body } = await server.admin("GET", path);
    assert.equal(status, 400);
    assert.match(body.message, /cannot be email_subscribe\. It is a custom .* first_name, /);
  });
});
