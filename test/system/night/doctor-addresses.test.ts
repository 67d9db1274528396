/* What the upgrade to one form of each address would change: `rapport doctor --addresses`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { examineAll } from "../../../src/cli/doctor.ts";
import { migrate } from "../../../src/core/database/migrations/migrate.ts";
import { readConfig } from "../../../src/server/config.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { testConfig } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { storeEarlier } from "../earlier-addresses.ts";

async function environmentOf() {
  const { databaseUrl } = await testConfig();
  return {
    PORT: "0",
    LOG_LEVEL: "silent",
    DATA_DIR: join(await temporaryFolder(), "data"),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

const findingsOf = async (environment: NodeJS.ProcessEnv, checks: readonly string[]) =>
  (await examineAll(environment, true)).filter(({ check }) => checks.includes(check));

describe("rapport doctor --addresses", () => {
  test("it counts the spellings that get another form or join another one, and changes nothing", async () => {
    const environment = await environmentOf();
    const database = await openDatabase(readConfig(environment));
    await storeEarlier(database, {
      users: [
        { externalId: "ascii", email: "Ada@example.com" },
        { externalId: "unicode", email: "K@München.example" },
        { externalId: "punycode", email: "k@xn--mnchen-3ya.example" },
        { externalId: "decomposed", email: "k@mu\u0308nchen.example" },
        { externalId: "shared", email: "k@mu\u0308nchen.example" },
        { externalId: "same", email: "josé@example.com" },
      ],
      states: [
        { email: "k@münchen.example", state: "unsubscribed", day: 1 },
        { email: "k@xn--mnchen-3ya.example", state: "subscribed", day: 2 },
        { email: "jose\u0301@example.com", state: "subscribed", day: 2 },
      ],
      bounces: [{ email: "k@münchen.example", day: 1 }],
      dashboardUsers: ["a@xn--mnchen-3ya.example", "b@xn--mnchen-3ya.example", "b@münchen.example"],
    });
    const read = () => database.query("select * from identifiers order by value, profile_id, kind");
    const before = [...(await read())];
    await database.close();

    const checks = ["addresses", "spellings", "user names"];
    const findings = await findingsOf(environment, checks);
    assert.deepEqual(
      findings.map(({ check, status, message }) => [check, status, message]),
      [
        [
          "addresses",
          "ok",
          "In another form: identifiers 3, email states 2, hard bounces 1, history 2.",
        ],
        [
          "spellings",
          "warning",
          "One address with another spelling: identifiers 2, email states 1, hard bounces 0.",
        ],
        ["user names", "ok", "In another form: dashboard users 1."],
        [
          "user names",
          "warning",
          `The dashboard user 01980000-0000-0000-0000-000000000901 (b@xn--mnchen-3ya.example) has the address of another dashboard user.`,
        ],
      ],
    );

    const again = await openDatabase(readConfig(environment));
    const after = [
      ...(await again.query("select * from identifiers order by value, profile_id, kind")),
    ];
    await again.close();
    assert.deepEqual(after, before);
  });

  test("an empty database has nothing to change", async () => {
    const environment = await environmentOf();
    const database = await openDatabase(readConfig(environment));
    await migrate(database);
    await database.close();
    const findings = await findingsOf(environment, ["addresses", "spellings", "user names"]);
    assert.deepEqual(
      findings.map(({ status }) => status),
      ["ok", "ok", "ok"],
    );
  });
});
