/* The upgrade of data that has an address for each spelling, killed at any point. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../../src/core/base/clock.ts";
import { addressForm } from "../../../src/core/base/values/address-form.ts";
import { migrate } from "../../../src/core/database/migrations/migrate.ts";
import {
  finishMigrations,
  type MigrationStep,
  readSteps,
} from "../../../src/core/database/migrations/steps.ts";
import { MIGRATION_STEPS } from "../../../src/server/assembled.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { testConfig } from "../../harness.ts";
import { earlier } from "../earlier-addresses.ts";

describe("an upgrade of addresses in several spellings", () => {
  test("an upgrade that is killed at any point continues, and ends as if it had not been killed", async () => {
    const domains = ["münchen", "xn--mnchen-3ya", "mu\u0308nchen"];
    const all = Array.from({ length: 3_000 }, (_, place) => ({
      externalId: `user-${place}`,
      email: `u${Math.floor(place / 2)}@${domains[place % 3]}.example`,
    }));
    const states = all
      .filter((_, place) => place % 2 === 0 || place % 7 === 0)
      .map(({ email }, place) => ({
        email,
        state: (["subscribed", "unsubscribed", "opted_in"] as const)[place % 3] ?? "subscribed",
        day: 1 + (place % 28),
      }));
    const data = { users: all, states, bounces: states.map(({ email, day }) => ({ email, day })) };
    const results = [];
    for (const killsEvery of [undefined, 2]) {
      const config = await testConfig(await earlier(data));
      const database = await openDatabase(config);
      await migrate(database, config.citusShards);
      let parts = 0;
      /** Loses every second transaction, and stops after every third one. */
      const killed = (step: MigrationStep): MigrationStep => ({
        ...step,
        async run(...given) {
          const state = await step.run(...given);
          if (killsEvery !== undefined && ++parts % killsEvery === 0) throw new Error("killed");
          return state;
        },
      });
      for (let attempt = 0; ; attempt++) {
        assert.ok(attempt < 200);
        const run = finishMigrations(database, MIGRATION_STEPS.map(killed), systemClock, () => {});
        if (
          await run.then(
            () => true,
            () => false,
          )
        )
          break;
      }
      const read = (sql: string) => database.query<any>(sql).then((rows) => [...rows]);
      const [identifiers, stored, bounces, joined, history] = [
        await read(
          "select value, profile_id, bucket from identifiers where kind = 'email' order by value, profile_id",
        ),
        await read(
          "select email, state, set_at, previous, spelling, bucket from email_states order by email",
        ),
        await read("select email, bounced_at, bucket from hard_bounces order by email"),
        await read("select * from joined_spellings order by email, spelling"),
        await read(
          "select email, state, changed_at, call from email_state_changes where call <> 'rapport migrate' order by email, changed_at, state",
        ),
      ];
      const [{ report } = {}] = await readSteps(database);
      await database.close();
      assert.equal(identifiers.length, all.length);
      assert.equal(history.length, states.length);
      for (const { value } of identifiers) assert.equal(addressForm(value), value);
      const wanted = new Map<string, (typeof states)[number]>();
      for (const each of states) {
        const form = addressForm(each.email);
        const other = wanted.get(form);
        const refuses = each.state === "unsubscribed";
        const otherRefuses = other?.state === "unsubscribed";
        if (!other || (refuses === otherRefuses ? each.day > other.day : refuses))
          wanted.set(form, each);
      }
      assert.deepEqual(
        stored.map(({ email, state }: any) => [email, state]),
        [...wanted].map(([form, { state }]) => [form, state]).sort(),
      );
      results.push({ identifiers, stored, bounces, joined, history, report });
    }
    assert.ok((results[0]?.joined.length ?? 0) > 500);
    assert.deepEqual(results[1], results[0]);
  });
});
