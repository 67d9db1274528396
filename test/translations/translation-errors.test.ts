import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../harness.ts";
import {
  FRENCH,
  HOLA,
  type Ids,
  inCampaign,
  inCanvas,
  NOBODY,
  PLAIN_MAIL,
  SECOND_STEP,
  SPANISH,
  STEP_PLAIN_MAIL,
  STEP_TEXT,
  translatedWorkspace,
  WELCOME_TEXT,
  withQuery,
} from "../translated-workspace.ts";

const server = await startServer();
const workspace = await server.workspace(translatedWorkspace());
const withoutLanguages = await server.workspace({
  ...translatedWorkspace(),
  settings: { multi_language: false },
});

const CAMPAIGN = "/campaign/translations/";
const CANVAS = "/canvases/translations";

interface Case {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly path: string;
  readonly ids: Ids;
  readonly off?: boolean;
}

const refused = (
  path: string,
  ids: Ids,
  code: string,
  message: string,
  status = code.endsWith("_NOT_FOUND") ? 404 : 400,
): Case => ({ path, ids, code, message, status });

/**
 * Refusals that are the same for every call: a message's translations, its source, or an update.
 */
const CASES: readonly Case[] = [
  refused(
    CAMPAIGN,
    inCampaign({ campaign_id: undefined }),
    "INVALID_CAMPAIGN_ID",
    "'campaign_id' is required",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ campaign_id: "welcome" }),
    "INVALID_CAMPAIGN_ID",
    "'campaign_id' must be a UUID",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ campaign_id: " " }),
    "INVALID_CAMPAIGN_ID",
    "'campaign_id' must be a UUID",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ campaign_id: NOBODY }),
    "INVALID_CAMPAIGN_ID",
    "There is no such campaign.",
  ),
  refused(
    CANVAS,
    inCanvas({ workflow_id: undefined }),
    "INVALID_CAMPAIGN_ID",
    "'workflow_id' is required",
  ),
  refused(
    CANVAS,
    inCanvas({ workflow_id: "x" }),
    "INVALID_CAMPAIGN_ID",
    "'workflow_id' must be a UUID",
  ),
  refused(
    CANVAS,
    inCanvas({ workflow_id: NOBODY }),
    "INVALID_CAMPAIGN_ID",
    "There is no such canvas.",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ message_variation_id: undefined }),
    "INVALID_MESSAGE_VARIATION_ID",
    "'message_variation_id' is required",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ message_variation_id: "1" }),
    "INVALID_MESSAGE_VARIATION_ID",
    "'message_variation_id' must be a UUID",
  ),
  refused(
    CANVAS,
    inCanvas({ message_variation_id: "1" }),
    "INVALID_MESSAGE_VARIATION_ID",
    "'message_variation_id' must be a UUID",
  ),
  refused(
    CANVAS,
    inCanvas({ step_id: undefined }),
    "INVALID_MESSAGE_VARIATION_ID",
    "'step_id' is required",
  ),
  refused(
    CANVAS,
    inCanvas({ step_id: "1" }),
    "INVALID_MESSAGE_VARIATION_ID",
    "'step_id' must be a UUID",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ message_variation_id: NOBODY }),
    "MESSAGE_NOT_FOUND",
    "The campaign has no such message.",
  ),
  refused(
    CANVAS,
    inCanvas({ message_variation_id: NOBODY }),
    "MESSAGE_NOT_FOUND",
    "The canvas has no such message.",
  ),
  refused(
    CANVAS,
    inCanvas({ step_id: NOBODY }),
    "MESSAGE_NOT_FOUND",
    "The canvas has no such message.",
  ),
  refused(
    CANVAS,
    inCanvas({ step_id: SECOND_STEP }),
    "MESSAGE_NOT_FOUND",
    "The canvas has no such message.",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ message_variation_id: WELCOME_TEXT }),
    "UNSUPPORTED_CHANNEL",
    "Only email messages can be translated.",
  ),
  refused(
    CANVAS,
    inCanvas({ message_variation_id: STEP_TEXT }),
    "UNSUPPORTED_CHANNEL",
    "Only email messages can be translated.",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ message_variation_id: PLAIN_MAIL }),
    "MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE",
    "This message does not support multi-language.",
  ),
  refused(
    CANVAS,
    inCanvas({ message_variation_id: STEP_PLAIN_MAIL }),
    "MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE",
    "This message does not support multi-language.",
  ),
  {
    ...refused(
      CAMPAIGN,
      inCampaign(),
      "MULTI_LANGUAGE_NOT_ENABLED",
      "The multi-language setting is off for this workspace.",
    ),
    off: true,
  },
  {
    ...refused(
      CANVAS,
      inCanvas(),
      "MULTI_LANGUAGE_NOT_ENABLED",
      "The multi-language setting is off for this workspace.",
    ),
    off: true,
  },
];

/** Refusals about its locale, if one is given. */
const LOCALE_CASES: readonly Case[] = [
  refused(
    CAMPAIGN,
    inCampaign({ locale_id: "es-MX" }),
    "INVALID_LOCALE_ID",
    "'locale_id' must be a UUID",
  ),
  refused(
    CANVAS,
    inCanvas({ locale_id: "es-MX" }),
    "INVALID_LOCALE_ID",
    "'locale_id' must be a UUID",
  ),
  refused(
    CAMPAIGN,
    inCampaign({ locale_id: NOBODY }),
    "INVALID_LOCALE_ID",
    "The provided locale code does not exist.",
  ),
  refused(
    CANVAS,
    inCanvas({ locale_id: NOBODY }),
    "INVALID_LOCALE_ID",
    "The provided locale code does not exist.",
  ),
];

const NOT_TRANSLATED: readonly Case[] = [
  refused(
    CAMPAIGN,
    inCampaign({ locale_id: FRENCH }),
    "LOCALE_NOT_FOUND",
    "The message has no translation in this locale.",
  ),
  refused(
    CANVAS,
    inCanvas({ locale_id: FRENCH }),
    "LOCALE_NOT_FOUND",
    "The message has no translation in this locale.",
  ),
];

const sourceOf = (path: string) => `${path.replace(/\/$/, "")}/source`;

async function check(method: "GET" | "PUT", path: string, each: Case): Promise<void> {
  const caller = each.off ? withoutLanguages : workspace;
  const body = { locale_id: SPANISH, ...each.ids, translation_map: HOLA };
  const answer =
    method === "PUT"
      ? await caller.call(method, path, body)
      : await caller.call(method, withQuery(path, each.ids));
  const title = `${method} ${path} ${JSON.stringify(each.ids)}`;
  assert.equal(answer.status, each.status, title);
  assert.deepEqual(answer.body, { errors: [{ message: each.message, code: each.code }] }, title);
}

describe("refused requests for translations", () => {
  test("a refused read of translations has the code and status of its condition", async () => {
    // A campaign without a message lists all of it: translation-lists.test.ts.
    const ofMessages = CASES.filter(({ ids }) => ids.message_variation_id !== undefined);
    for (const each of [...ofMessages, ...LOCALE_CASES, ...NOT_TRANSLATED]) {
      await check("GET", each.path, each);
    }
  });

  test("a refused read of the source has the code and status of its condition", async () => {
    for (const each of CASES) await check("GET", sourceOf(each.path), each);
  });

  test("a refused update of translations has the code and status of its condition", async () => {
    for (const each of [...CASES, ...LOCALE_CASES]) await check("PUT", each.path, each);
    const missing = inCampaign({ locale_id: undefined });
    await check(
      "PUT",
      CAMPAIGN,
      refused(CAMPAIGN, missing, "INVALID_LOCALE_ID", "'locale_id' is required"),
    );
  });

  test("a message of another campaign gets 404, and a campaign is refused as a canvas", async () => {
    const other = "22222222-0000-4000-8000-000000000002";
    const { campaigns, ...rest } = translatedWorkspace();
    const own = await server.workspace({
      ...rest,
      campaigns: [...campaigns, { id: other, name: "Other", messages: [] }],
    });
    const inOther = await own.call("GET", withQuery(CAMPAIGN, inCampaign({ campaign_id: other })));
    assert.equal(inOther.status, 404);
    const ids = inCanvas({ workflow_id: inCampaign().campaign_id });
    const asCanvas = await own.call("GET", withQuery(CANVAS, ids));
    assert.match(JSON.stringify(asCanvas.body), /INVALID_CAMPAIGN_ID/);
  });
});
