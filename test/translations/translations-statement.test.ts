import assert from "node:assert/strict";
import { test } from "node:test";
import { createSealing } from "../../src/core/admin/secrets/sealing.ts";
import { systemClock } from "../../src/core/base/clock.ts";
import { BY_THE_SERVER } from "../../src/core/base/context/context.ts";
import type { Workspace } from "../../src/core/base/context/workspace.ts";
import { readTranslations } from "../../src/features/translations/read-translations.ts";
import { RESOURCES } from "../../src/server/assembled.ts";
import { openMigrated } from "../databases.ts";
import { translatedWorkspace, WELCOME, WELCOME_MAIL } from "../translated-workspace.ts";

/* How many statements a call takes cannot be seen through HTTP, so this one asks the use case. */

test("the translations of a message with 500 strings in 40 locales are read in one statement", async () => {
  const database = await openMigrated();
  const locales = Array.from({ length: 40 }, (_, index) => ({
    id: `11111111-0000-4000-8000-0000000003${String(index).padStart(2, "0")}`,
    name: "Locale",
    country: "x",
    language: "x",
    locale_key: `x-${index}`,
  }));
  const source = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`id_${index}`, `Text ${index}`]),
  );
  const message = { id: WELCOME_MAIL, channel: "email", multi_language: true, source };
  const translations = Object.fromEntries(locales.map((each) => [each.locale_key, source]));
  const declared = {
    ...translatedWorkspace(),
    locales,
    canvases: [],
    campaigns: [{ id: WELCOME, name: "Welcome", messages: [{ ...message, translations }] }],
  };
  await database.transaction(async (tx) => {
    const sealing = createSealing({ current: undefined, previous: undefined });
    const services = {
      clock: systemClock,
      sealing,
      shortestSecret: 1,
      adminTokenHashes: [],
      colleaguesAmong: async () => new Set<string>(),
      nameErasers: [],
      resources: RESOURCES,
    };
    const context = { ...BY_THE_SERVER, workspace: { id: 1, name: "x" } as Workspace };
    for (const { key, apply } of RESOURCES) {
      const entries = (declared as Record<string, unknown>)[key];
      if (entries) await apply(tx, services, context, entries as never);
    }
  });

  const statements: string[] = [];
  const counted = {
    ...database,
    query: <Row>(sql: string, parameters?: readonly unknown[]) => {
      statements.push(sql);
      return database.query<Row>(sql, parameters);
    },
  };
  const workspace = { id: 1, settings: { multi_language: true } } as Workspace;
  const address = {
    kind: "campaign",
    campaignId: WELCOME,
    stepId: null,
    messageId: WELCOME_MAIL,
  } as const;
  const found = await readTranslations({ database: counted }, workspace, address, undefined);
  assert.equal(found.length, 40);
  for (const { map } of found) assert.deepEqual(map, source);
  assert.equal(statements.length, 1);
});
