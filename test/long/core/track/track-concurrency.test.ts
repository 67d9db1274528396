/*
 * Promise 3 of the design under load: 16 writers at once, through one server and (on PostgreSQL)
 * through two on one database, never lose an update and never make a person twice.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ENGINE,
  startOwnServer,
  startServer,
  type TestServer,
  type TestWorkspace,
} from "../../../harness.ts";
import { sized } from "../../../sizes.ts";

const WRITERS = 16;
const TIME = "2026-01-01T12:00:00Z";
const PHONE = "+14155552671";

const first = await startServer();
const second =
  ENGINE === "postgres"
    ? await startOwnServer({ databaseUrl: first.config.databaseUrl })
    : undefined;

/** Sends a track request through the next server in turn, and wants all of it taken. */
type Send = (body: object) => Promise<void>;

const SERVERS: Record<string, readonly TestServer[]> = {
  // Two include it.
  ...((!second || sized(false, true)) && { "through one server": [first] }),
  ...(second && { "through two servers on one database": [first, second] }),
};

function senderTo(servers: readonly TestServer[], workspace: TestWorkspace): Send {
  let turn = 0;
  return async (body) => {
    const server = servers[turn++ % servers.length] ?? first;
    const answer = await server.send("POST", "/users/track", body, { key: workspace.key });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual([answer.body.errors, answer.body.skipped], [undefined, undefined]);
  };
}

/** Runs `write` in every writer at the same time, `rounds` times one after the other. */
const inParallel = (rounds: number, write: (writer: number, round: number) => Promise<void>) =>
  Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let round = 0; round < rounds; round++) await write(writer, round);
    }),
  );

const sorted = (values: readonly string[]) => [...values].sort();

const ROUNDS = sized(4, 12);
const everyMark = sorted(
  Array.from({ length: WRITERS * ROUNDS }, (_, n) => `${Math.floor(n / ROUNDS)}-${n % ROUNDS}`),
);

for (const [where, servers] of Object.entries(SERVERS)) {
  describe(`16 concurrent writers ${where}`, () => {
    const start = async (): Promise<[TestWorkspace, Send]> => {
      const workspace = await first.workspace();
      return [workspace, senderTo(servers, workspace)];
    };
    const ada = (workspace: TestWorkspace) => workspace.profile({ external_ids: ["ada"] });

    test("concurrent requests lose no array element, no increment and no nested key", async () => {
      const [workspace, send] = await start();
      await inParallel(ROUNDS, async (writer, round) => {
        const mark = `${writer}-${round}`;
        await send({
          attributes: [
            {
              external_id: "ada",
              _merge_objects: true,
              marks: { add: [mark] },
              count: { inc: 1 },
              nested: { [`of-${writer}`]: { [`in-${round}`]: true } },
              objects: { $add: [{ mark }] },
              [`own-${mark}`]: 1,
            },
          ],
        });
      });
      const { custom_attributes: custom } = await ada(workspace);
      assert.deepEqual(sorted(custom.marks), everyMark);
      assert.equal(custom.count, WRITERS * ROUNDS);
      assert.deepEqual(sorted(custom.objects.map((each: any) => each.mark)), everyMark);
      assert.equal(Object.keys(custom.nested).length, WRITERS);
      for (const part of Object.values(custom.nested)) {
        assert.equal(Object.keys(part as object).length, ROUNDS);
      }
      const own = Object.keys(custom).filter((name) => name.startsWith("own-"));
      assert.equal(own.length, WRITERS * ROUNDS);
    });

    test("concurrent requests lose no event and no purchase, and the summaries are exact", async () => {
      const [workspace, send] = await start();
      await inParallel(ROUNDS, (writer, round) =>
        send({
          events: [{ external_id: "ada", name: "opened", time: TIME }],
          purchases: [
            {
              external_id: "ada",
              product_id: `p${round % 3}`,
              currency: round % 2 ? "EUR" : "USD",
              price: 0.1,
              quantity: 1 + (writer % 2),
              time: TIME,
            },
          ],
        }),
      );
      const { custom_events, purchases, revenue_by_currency } = await ada(workspace);
      assert.equal(custom_events[0].count, WRITERS * ROUNDS);
      const sold = purchases.reduce((sum: number, each: any) => sum + each.count, 0);
      assert.equal(sold, WRITERS * ROUNDS * 1.5);
      const each = (WRITERS * ROUNDS * 1.5) / 2 / 10;
      assert.deepEqual(revenue_by_currency, { EUR: each, USD: each });
    });

    test("concurrent requests that name one user in different ways lose nothing", async () => {
      const [workspace, send] = await start();
      const email = "ada@example.com";
      await send({ attributes: [{ external_id: "ada", email, phone: PHONE }] });
      const { platform_id } = await ada(workspace);
      const ways = [{ external_id: "ada" }, { email }, { phone: PHONE }, { platform_id }];
      await inParallel(ROUNDS, async (writer, round) => {
        const identifier = ways[(writer + round) % ways.length];
        await send({
          attributes: [
            { ...identifier, marks: { add: [`${writer}-${round}`] }, count: { inc: 1 } },
          ],
          events: [{ ...identifier, name: "opened", time: TIME }],
        });
      });
      const { custom_attributes: custom, custom_events } = await ada(workspace);
      assert.deepEqual(sorted(custom.marks), everyMark);
      assert.deepEqual([custom.count, custom_events[0].count], Array(2).fill(WRITERS * ROUNDS));
    });

    const names: Record<string, object> = {
      external_id: { external_id: "new" },
      email: { email: "new@example.com" },
      phone: { phone: PHONE },
      user_alias: { user_alias: { alias_name: "new", alias_label: "crm" } },
    };
    for (const [kind, identifier] of Object.entries(names)) {
      test(`concurrent requests with the same new ${kind} create one user`, async () => {
        const [workspace, send] = await start();
        await inParallel(2, (writer, round) =>
          send({
            attributes: [{ ...identifier, _update_existing_only: false, marks: { add: [writer] } }],
            ...(kind !== "user_alias" && {
              events: [{ ...identifier, name: `round-${round}`, time: TIME }],
            }),
          }),
        );
        const found = await workspace.profiles({
          external_ids: ["new"],
          user_aliases: [{ alias_name: "new", alias_label: "crm" }],
          ...(kind === "phone" ? { phone: PHONE } : { email_address: "new@example.com" }),
        });
        assert.equal(found.length, 1);
        const [{ custom_attributes, custom_events } = {} as any] = found;
        assert.equal(custom_attributes.marks.length, WRITERS);
        if (kind !== "user_alias") {
          assert.deepEqual(
            custom_events.map((each: any) => each.count),
            [WRITERS, WRITERS],
          );
        }
      });
    }

    test("concurrent requests for many users in opposite orders all succeed and are complete", async () => {
      const [workspace, send] = await start();
      const people = Array.from({ length: 24 }, (_, index) => `person-${index}`);
      await inParallel(4, (writer) => {
        const order = writer % 2 ? people : people.toReversed();
        return send({
          attributes: order.map((external_id) => ({ external_id, count: { inc: 1 } })),
          events: order.map((external_id) => ({ external_id, name: "opened", time: TIME })),
        });
      });
      const all = await workspace.profiles({ external_ids: people });
      assert.deepEqual(
        all.map((each) => [each.custom_attributes.count, each.custom_events[0].count]),
        people.map(() => [WRITERS * 4, WRITERS * 4]),
      );
    });

    test("concurrent requests that pass an address between users lose no event sent to it", async () => {
      const [workspace, send] = await start();
      const email = "passed@example.com";
      await inParallel(6, async (writer, round) => {
        await send({ attributes: [{ external_id: `holder-${writer % 4}`, email }] });
        await send({ events: [{ email, name: "found", time: TIME }] });
        if (round % 3 === 0) {
          await send({ attributes: [{ external_id: `holder-${writer % 4}`, email: null }] });
        }
      });
      const holders = Array.from({ length: 4 }, (_, index) => `holder-${index}`);
      const profiles = await workspace.profiles({ external_ids: holders, email_address: email });
      const count = profiles
        .flatMap((profile) => profile.custom_events)
        .reduce((sum, each) => sum + each.count, 0);
      // A profile created for the address while no user had it keeps its data.
      assert.equal(count, WRITERS * 6);
    });
  });
}
