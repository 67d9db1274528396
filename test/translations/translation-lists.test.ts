import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../harness.ts";
import {
  FIRST_STEP,
  FRENCH,
  HOLA,
  inCampaign,
  inCanvas,
  NOBODY,
  ONBOARDING,
  SECOND_STEP,
  SOURCE,
  SPANISH,
  STEP_MAIL,
  STEP_PLAIN_MAIL,
  STEP_TEXT,
  translatedWorkspace,
  WELCOME,
  WELCOME_MAIL,
  withQuery,
} from "../translated-workspace.ts";

const server = await startServer();

const LATER_MAIL = "00000000-0000-4000-8000-000000000001";

/** The usual workspace, whose canvas has a translated message in its second step too. */
async function workspaceWithTwoSteps() {
  const declared = translatedWorkspace();
  const later = {
    id: LATER_MAIL,
    channel: "email",
    multi_language: true,
    source: SOURCE,
    translations: { "fr-FR": HOLA, "es-MX": HOLA },
  };
  declared.canvases[0]?.steps[1]?.messages.push(later as never);
  return server.workspace(declared);
}

describe("the translations of a whole campaign or canvas", () => {
  test("a canvas alone lists every translation with its step and message, in the order of its steps", async () => {
    const workspace = await workspaceWithTwoSteps();
    for (const name of ["workflow_id", "canvas_id"]) {
      const path = withQuery("/canvases/translations", { [name]: ONBOARDING.toUpperCase() });
      const { status, body } = await workspace.call<any>("GET", path);
      assert.equal(status, 200);
      const listed = body.translations.map((each: any) => [
        each.step_id,
        each.message_variation_id,
        each.locale.locale_key,
        each.translation_map,
      ]);
      assert.deepEqual(listed, [
        [FIRST_STEP, STEP_MAIL, "es-MX", HOLA],
        [SECOND_STEP, LATER_MAIL, "es-MX", HOLA],
        [SECOND_STEP, LATER_MAIL, "fr-FR", HOLA],
      ]);
    }
  });

  test("a campaign alone lists every translation with its message", async () => {
    const workspace = await workspaceWithTwoSteps();
    const path = withQuery("/campaign/translations/", { campaign_id: WELCOME });
    const { body } = await workspace.call<any>("GET", path);
    assert.equal(body.translations.length, 1);
    const [only] = body.translations;
    assert.deepEqual(
      [only.message_variation_id, only.locale.uuid, only.translation_map, "step_id" in only],
      [WELCOME_MAIL, SPANISH, HOLA, false],
    );
  });

  test("a campaign or canvas without a message that can be translated gives the reason of a single message", async () => {
    const sms = { id: STEP_TEXT, channel: "sms", multi_language: true, source: SOURCE };
    const plain = { id: STEP_PLAIN_MAIL, channel: "email", source: SOURCE };
    const cases: [messages: object[], status: number, code: string][] = [
      [[sms], 400, "UNSUPPORTED_CHANNEL"],
      [[plain], 400, "MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE"],
      [[sms, plain], 400, "MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE"],
      [[], 404, "MESSAGE_NOT_FOUND"],
    ];
    for (const [messages, status, code] of cases) {
      const { campaigns: _, canvases: __, ...declared } = translatedWorkspace();
      const workspace = await server.workspace({
        ...declared,
        campaigns: [{ id: WELCOME, name: "Welcome", messages }],
        canvases: [
          {
            id: ONBOARDING,
            name: "Onboarding",
            steps: [
              {
                id: FIRST_STEP,
                messages: messages.map((each) => ({
                  ...each,
                  id: LATER_MAIL.replace(/.$/, String(messages.indexOf(each) + 2)),
                })),
              },
            ],
          },
        ],
      });
      for (const path of [
        withQuery("/campaign/translations/", { campaign_id: WELCOME }),
        withQuery("/canvases/translations", { workflow_id: ONBOARDING }),
      ]) {
        const { status: got, body } = await workspace.call<any>("GET", path);
        assert.deepEqual([got, body.errors?.[0].code], [status, code], path);
      }
    }
    const untranslated = await server.workspace({
      ...translatedWorkspace(),
      campaigns: [
        {
          id: WELCOME,
          name: "Welcome",
          messages: [{ id: WELCOME_MAIL, channel: "email", multi_language: true, source: SOURCE }],
        },
      ],
    });
    const path = withQuery("/campaign/translations/", { campaign_id: WELCOME });
    const { status, body } = await untranslated.call<any>("GET", path);
    assert.deepEqual([status, body.translations], [200, []]);
  });

  test("a list of translations takes the campaign or canvas alone: a locale or a step needs the message, too", async () => {
    const workspace = await workspaceWithTwoSteps();
    const get = (ids: Record<string, string>) =>
      workspace.call<any>("GET", withQuery("/canvases/translations", ids));
    const refused = async (ids: Record<string, string>, status: number, code: string) => {
      const answer = await get(ids);
      assert.deepEqual([answer.status, answer.body.errors[0].code], [status, code]);
    };
    await refused({ workflow_id: NOBODY }, 400, "INVALID_CAMPAIGN_ID");
    await refused({ locale_id: FRENCH }, 400, "INVALID_CAMPAIGN_ID");
    for (const more of [
      { locale_id: FRENCH },
      { step_id: FIRST_STEP },
      { step_id: FIRST_STEP, locale_id: FRENCH },
      { message_variation_id: STEP_MAIL, locale_id: FRENCH },
    ]) {
      await refused({ workflow_id: ONBOARDING, ...more }, 400, "INVALID_MESSAGE_VARIATION_ID");
    }
    const campaign = await workspace.call<any>(
      "GET",
      withQuery("/campaign/translations", { campaign_id: WELCOME, locale_id: FRENCH }),
    );
    assert.deepEqual(
      [campaign.status, campaign.body.errors],
      [
        400,
        [{ message: "'message_variation_id' is required", code: "INVALID_MESSAGE_VARIATION_ID" }],
      ],
    );
  });
});

test("the multi-language setting of a workspace is checked before any id", async () => {
  const workspace = await server.workspace({
    ...translatedWorkspace(),
    settings: { multi_language: false },
  });
  const ids = { campaign_id: "x", workflow_id: "x", step_id: "x", message_variation_id: "x" };
  for (const path of ["/campaign/translations/", "/canvases/translations"]) {
    for (const query of [ids, {}, inCampaign(), inCanvas()]) {
      for (const each of [path, `${path.replace(/\/$/, "")}/source`]) {
        const { status, body } = await workspace.call<any>("GET", withQuery(each, query));
        assert.deepEqual([status, body.errors[0].code], [400, "MULTI_LANGUAGE_NOT_ENABLED"]);
      }
    }
    const put = await workspace.call<any>("PUT", path, { ...ids, translation_map: HOLA });
    assert.deepEqual([put.status, put.body.errors[0].code], [400, "MULTI_LANGUAGE_NOT_ENABLED"]);
  }
});
