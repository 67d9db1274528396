/* The work of one batch of an import: it grows with its rows, and not with their square (docs/import.md). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

async function importRows({ name }: TestWorkspace, kind: string, rows: readonly object[]) {
  const path = `/admin/v1/workspaces/${name}/imports/${kind}`;
  const { status, body } = await server.admin("POST", path, { kind, first_row: 1, rows });
  assert.equal(status, 200, JSON.stringify(body));
  return body as { imported: number; notes: { index: number; code: string; outcome: string }[] };
}

const alias = (name: string) => ({ alias_name: name, alias_label: "crm" });

describe("a batch of an import", () => {
  // Entering all identifiers of the user anew for each alias took minutes, in which nobody else could write.
  test("gives a user twenty thousand aliases of one row", { timeout: 60_000 }, async () => {
    const workspace = await server.workspace();
    const user_aliases = Array.from({ length: 20_000 }, (_, index) => alias(`ada-${index}`));
    const done = await importRows(workspace, "users", [{ external_id: "ada", user_aliases }]);
    assert.deepEqual(done.notes, []);
    for (const name of ["ada-0", "ada-19999"]) {
      const found = await workspace.profile({ user_aliases: [alias(name)] });
      assert.equal(found.external_id, "ada");
      assert.equal(found.user_aliases.length, 20_000);
    }
  });

  test("gives rows of one user all their aliases, each once, and notes those of others", async () => {
    const workspace = await server.workspace();
    const { notes } = await importRows(workspace, "users", [
      { external_id: "ada", user_aliases: [alias("a"), alias("a"), alias("b")] },
      { external_id: "grace", user_aliases: [alias("b"), alias("g"), alias("a")] },
      { external_id: "ada", user_aliases: [alias("g"), alias("b"), alias("c")] },
    ]);
    assert.deepEqual(
      notes.map(({ index, code, outcome }) => ({ index, code, outcome })),
      [1, 1, 2].map((index) => ({ index, code: "ALIAS_TAKEN", outcome: "partial" })),
    );
    const namesOf = async (id: string) =>
      (await workspace.profile({ external_ids: [id] })).user_aliases
        .map((each: { alias_name: string }) => each.alias_name)
        .sort();
    assert.deepEqual(await namesOf("ada"), ["a", "b", "c"]);
    assert.deepEqual(await namesOf("grace"), ["g"]);
  });

  test("that is a dry run uses none of the names that a workspace may have", async () => {
    const workspace = await server.workspace({ settings: { max_event_names: 2 } });
    const time = "2026-01-01T12:00:00Z";
    const rows = ["one", "two", "three"].map((name) => ({ external_id: "ada", name, time }));
    const path = `/admin/v1/workspaces/${workspace.name}/imports/dry`;
    const batch = { kind: "events", first_row: 1, rows, dry_run: true };
    const { status, body } = await server.admin("POST", path, batch);
    assert.equal(status, 200);
    const notes = body.notes as { index: number; code: string }[];
    assert.deepEqual(
      notes.map(({ index, code }) => [index, code]),
      [[2, "EVENT_QUOTA_EXCEEDED"]],
    );
    const events = ["other", "another"].map((name) => ({ external_id: "ada", name, time }));
    assert.equal((await workspace.track({ events })).body.events_processed, 2);
  });

  test("writes the users of an address once, however many of its rows set the state", async () => {
    const workspace = await server.workspace();
    const [once, often] = await Promise.all([
      statesSet(workspace, "ada", ["unsubscribed"]),
      statesSet(
        workspace,
        "grace",
        Array.from({ length: 99 }, (_, index) => (index % 2 === 0 ? "unsubscribed" : "opted_in")),
      ),
    ]);
    assert.equal(often, once);
  });

  /** Sets states of the address of a new user. @returns how often the user was written for it. */
  async function statesSet(workspace: TestWorkspace, id: string, states: readonly string[]) {
    const email = `${id}@${workspace.name}.example`;
    await workspace.track({ attributes: [{ external_id: id, email }] });
    const versions = () =>
      server.database.query<{ version: number }>("select version from profiles where email = $1", [
        email,
      ]);
    const [before] = await versions();
    const rows = states.map((subscription_state) => ({ email, subscription_state }));
    const path = `/admin/v1/workspaces/${workspace.name}/imports/${id}`;
    const batch = { kind: "subscriptions", first_row: 1, rows };
    assert.equal((await server.admin("POST", path, batch)).status, 200);
    const history = await server.database.query<{ state: string }>(
      "select state from email_state_changes where email = $1 order by change_id",
      [email],
    );
    assert.deepEqual(
      history.map(({ state }) => state),
      states,
    );
    const found = await workspace.profile({ external_ids: [id] });
    assert.equal(found.email_subscribe, states.at(-1));
    const [after] = await versions();
    return Number(after?.version) - Number(before?.version);
  }
});
