/* Segments in the dashboard (docs/segments.md). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { type Answer, startServer } from "../harness.ts";
import { declare, succeeds } from "../segment-calls.ts";
import { until } from "../until.ts";

const server = await startServer();

describe("segments in the dashboard", () => {
  test("a user's segments are those whose filter the user meets, the oldest first", async () => {
    const workspace = await server.workspace();
    await succeeds(
      workspace.track({
        attributes: [{ external_id: "ada", plan: "pro", email: "a@example.com" }],
      }),
    );
    const { platform_id: id } = await workspace.profile({ external_ids: ["ada"] });
    const filters = {
      Pros: { custom_attribute: "plan", equals: "pro" },
      Free: { custom_attribute: "plan", equals: "free" },
      Mailable: { email_available: true },
    };
    for (const [name, filter] of Object.entries(filters)) {
      await succeeds(declare(server, workspace, randomUUID(), { name, filter }));
    }
    const path = (of: string) => `/admin/v1/workspaces/${workspace.name}/users/${of}/segments`;
    const { body }: Answer<any> = await server.admin("GET", path(id));
    assert.deepEqual(
      body.segments.map(({ name, description }: any) => [name, description]),
      [
        ["Pros", 'Users who match: plan is "pro".'],
        ["Mailable", "Users who match: can receive email."],
      ],
    );
    assert.equal((await server.admin("GET", path(randomUUID()))).status, 404);
  });

  test("the recorded sizes of the last 30 days are listed by segment, today's within seconds of a change of the filter", async () => {
    const workspace = await server.workspace();
    const id = randomUUID();
    await succeeds(
      declare(server, workspace, id, {
        name: "All",
        filter: { attribute: "external_id", exists: true },
      }),
    );
    await server.database.query(
      `insert into segment_sizes (workspace_id, segment_id, day, size)
       select workspace_id, $1, (now() at time zone 'UTC')::date - back, 100 - back
       from workspaces, unnest(array[40, 2, 1]) as back where name = $2`,
      [id, workspace.name],
    );
    const path = `/admin/v1/workspaces/${workspace.name}/segment-sizes`;
    const listed = async () => {
      const { body }: Answer<any> = await server.admin("GET", path);
      return body.segments.map((each: any) => [each.id, each.sizes.map(({ size }: any) => size)]);
    };
    const when = (sizes: readonly number[]) =>
      until(async () => JSON.stringify(await listed()) === JSON.stringify([[id, sizes]]));
    await when([98, 99, 0]);
    await workspace.track({ attributes: [{ external_id: "ada", country: "DE" }] });
    await succeeds(
      declare(server, workspace, id, {
        name: "Not nobody",
        filter: { attribute: "country", exists: true },
      }),
    );
    await when([98, 99, 1]);
    // Another name is no other filter.
    await workspace.track({ attributes: [{ external_id: "bob", country: "DE" }] });
    await succeeds(
      declare(server, workspace, id, {
        name: "All",
        filter: { attribute: "country", exists: true },
      }),
    );
    const jobs =
      "select 1 from jobs where kind = 'segment_sizes' and workspace_id = (select workspace_id from workspaces where name = $1)";
    assert.equal((await server.database.query(jobs, [workspace.name])).length, 0);
    assert.deepEqual(await listed(), [[id, [98, 99, 1]]]);
  });
});
