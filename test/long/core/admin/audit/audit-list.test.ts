/* The audit as people read it: names instead of ids, filters, and the file. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { parse } from "csv-parse/sync";
import { createSettableClock, later } from "../../../../../src/core/base/clock.ts";
import { addColleague, enter } from "../../../../colleagues.ts";
import { signIn } from "../../../../dashboard-users/signed-in.ts";
import { startOwnServer } from "../../../../harness.ts";

const clock = createSettableClock();
const server = await startOwnServer({ clock });
await server.admin("PUT", "/admin/v1/workspaces/shop", {});

const find = async (query: Record<string, string>): Promise<any[]> => {
  const { status, body } = await server.admin(
    "GET",
    `/admin/v1/audit?${new URLSearchParams(query)}`,
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body.entries;
};

const PATH = "/admin/v1/workspaces/shop";

const done = async (answer: Promise<{ status: number; body: unknown }>) => {
  const { status, body } = await answer;
  assert.ok(status < 300, JSON.stringify(body));
};

/** A message of a new campaign. @returns its id. */
async function newMessage(campaign: string): Promise<string> {
  const [id, campaign_id] = [randomUUID(), randomUUID()];
  await done(server.admin("PUT", `${PATH}/campaigns/${campaign_id}`, { name: campaign }));
  const message = { campaign_id, channel: "email", content: { subject: "Hello" } };
  await done(server.admin("PUT", `${PATH}/messages/${id}`, message));
  return id;
}

/** A segment that was renamed. */
async function renamedSegment(name: string, to: string): Promise<void> {
  const path = `${PATH}/segments/${randomUUID()}`;
  const filter = { all: [{ event: "signed_up" }] };
  await done(server.admin("PUT", path, { name, filter }));
  await done(server.admin("PATCH", path, { name: to }));
}

describe("the audit for people", () => {
  test("a thing with an id has its name, also in entries that do not say it and after its removal", async () => {
    const id = await newMessage("Welcome");
    await done(server.admin("DELETE", `${PATH}/messages/${id}`));
    const entries = await find({ name: id });
    assert.deepEqual(
      entries.map(({ action, label }) => [action, label]),
      [
        ["removed", "email of Welcome"],
        ["created", "email of Welcome"],
      ],
    );
  });

  test("a colleague has the user name, also one whom no entry names", async () => {
    const grace = await addColleague(server);
    await server.database.query("delete from audit_entries where name = $1", [grace.id]);
    await enter(server, grace);
    const entries = await find({ name: grace.id });
    assert.ok(entries.length > 0);
    for (const { label } of entries) assert.equal(label, grace.userName);
  });

  test("entries are found by a part of the name, ignoring case, and by the id", async () => {
    const id = await newMessage("Spring 2026");
    await done(server.admin("DELETE", `${PATH}/messages/${id}`));
    for (const query of ["of spring 2026", "SPRING", id.slice(0, 13)]) {
      const found = await find({ query, kind: "message" });
      assert.deepEqual(
        found.map(({ name }) => name),
        [id, id],
        query,
      );
    }
    assert.deepEqual(await find({ query: "no such thing at all" }), []);
    assert.deepEqual(await find({ query: "%" }), []);
  });

  test("entries are found by the person, by the administrator, and by days", async () => {
    const chief = await addColleague(server, { company: ["admin"] });
    const browser = await enter(server, chief);
    const day = later(clock.now(), { days: 3 });
    clock.set(day);
    const again = await enter(server, chief);
    await again.call("PUT", "/admin/v1/workspaces/shop/teams/Red", {});
    const own = await find({ by: chief.userName, kind: "team" });
    assert.deepEqual(
      own.map(({ name, actor_name }) => [name, actor_name]),
      [["Red", chief.userName]],
    );
    const administrators = await find({ by: "administrator" });
    assert.ok(administrators.length > 0);
    assert.ok(administrators.every(({ actor }) => actor === "administrator"));
    const since = later(day, { hours: -1 }).toISOString();
    const before = await find({ until: since, by: chief.userName });
    assert.ok(before.length > 0 && before.every(({ at }) => at < since));
    assert.ok((await find({ since })).every(({ at }) => at >= since));
    assert.notEqual(browser.cookie, again.cookie);
    // As people type it: a plus sign that is not encoded arrives as a space.
    const zoned = await server.admin("GET", "/admin/v1/audit?since=2020-01-01T00:00:00+02:00");
    assert.equal(zoned.status, 200, JSON.stringify(zoned.body));
    const { status, body } = await server.admin("GET", "/admin/v1/audit?since=yesterday");
    assert.deepEqual([status, body.message], [400, "'since' must be an ISO 8601 date-time"]);
  });

  test("the administrator in a session is told from the admin token", async () => {
    const browser = await signIn(server);
    await browser.call("PUT", "/admin/v1/workspaces/shop/teams/Blue", {});
    await server.admin("PUT", "/admin/v1/workspaces/shop/teams/Green", {});
    const names = async (name: string) =>
      (await find({ name, kind: "team" })).map(({ actor, actor_name }) => [actor, actor_name]);
    assert.deepEqual(await names("Blue"), [["administrator", "dashboard"]]);
    assert.deepEqual(await names("Green"), [["administrator", null]]);
  });

  test("the file has the filtered entries with names, before and after, and no cell that runs as a formula", async () => {
    await renamedSegment("=HYPERLINK(1)", "-2+3");
    const { status, headers, body } = await server.send(
      "GET",
      "/admin/v1/audit.csv?kind=segment",
      undefined,
      { key: server.adminToken },
    );
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^text\/csv/);
    assert.match(headers.get("content-disposition") ?? "", /audit\.csv/);
    const rows = parse(String(body), { bom: true, columns: true }) as Record<string, string>[];
    assert.deepEqual(
      rows.map(({ action, name, before, after, from }) => [action, name, before, after, from]),
      [
        ["updated", "'-2+3", '{"name":"=HYPERLINK(1)"}', '{"name":"-2+3"}', "admin API"],
        ["created", "'=HYPERLINK(1)", "", rows[1]?.after, "admin API"],
      ],
    );
  });

  test("the file has every entry of several pages, once", async () => {
    for (let team = 0; team < 30; team++) {
      await server.admin("PUT", `/admin/v1/workspaces/shop/teams/team-${team}`, {});
    }
    const { body } = await server.send(
      "GET",
      "/admin/v1/audit.csv?kind=team&query=team-",
      undefined,
      { key: server.adminToken },
    );
    const rows = parse(String(body), { bom: true, columns: true }) as Record<string, string>[];
    assert.equal(new Set(rows.map(({ name }) => name)).size, 30);
    assert.equal(rows.length, 30);
  });
});
