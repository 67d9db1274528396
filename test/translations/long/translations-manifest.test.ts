import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { serve } from "../../../src/server/serve.ts";
import { startServer, type TestWorkspace, testConfig } from "../../harness.ts";
import {
  FIRST_STEP,
  FRENCH,
  french,
  HOLA,
  inCampaign,
  inCanvas,
  SOURCE,
  SPANISH,
  STEP_MAIL,
  spanish,
  translatedWorkspace,
  WELCOME,
  WELCOME_MAIL,
  withQuery,
} from "../../translated-workspace.ts";

const server = await startServer();

/** Applies a declaration to a workspace that is there. */
const apply = (workspace: TestWorkspace, declared: object) =>
  server.admin("POST", "/admin/v1/apply", {
    company: { name: "Test" },
    workspaces: [
      {
        name: workspace.name,
        allow_reset: true,
        settings: { multi_language: true },
        ...declared,
      },
    ],
  });

async function changesOf(workspace: TestWorkspace, declared: object): Promise<string[]> {
  const answer = await apply(workspace, declared);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.changes.map((each: any) => `${each.action} ${each.kind} ${each.name}`);
}

async function mapsOf(workspace: TestWorkspace, ids = inCampaign()): Promise<any> {
  const path = ids.step_id ? "/canvases/translations" : "/campaigns/translations";
  const answer = await workspace.call<any>("GET", withQuery(path, ids));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return Object.fromEntries(
    answer.body.translations.map((each: any) => [each.locale.locale_key, each.translation_map]),
  );
}

const campaign = (message: object, id = WELCOME) => ({
  id,
  name: "Welcome",
  messages: [{ id: WELCOME_MAIL, channel: "email", multi_language: true, ...message }],
});

describe("translations in the manifest", () => {
  test("applying the same translations again changes nothing", async () => {
    const workspace = await server.workspace();
    const declared = translatedWorkspace();
    assert.deepEqual(await changesOf(workspace, declared), [
      `updated workspace ${workspace.name}`,
      "created locale Spanish (Mexico)",
      "created locale French",
      "created campaign Welcome",
      "created canvas Onboarding",
    ]);
    assert.deepEqual(await changesOf(workspace, declared), []);
    const upper = JSON.parse(JSON.stringify(declared), (key, value) =>
      /^id$|_id$/.test(key) ? value.toUpperCase() : value,
    );
    assert.deepEqual(await changesOf(workspace, upper), []);
  });

  test("every change of a translation resource in a manifest is reported and takes effect", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const base = translatedWorkspace();
    const cases: [declared: object, changes: string[]][] = [
      [
        { locales: [{ ...spanish, country: "México" }, french] },
        ["updated locale Spanish (Mexico)"],
      ],
      [
        { campaigns: [campaign({ source: SOURCE, translations: { "es-MX": HOLA } })] },
        ["updated campaign Welcome"],
      ],
      [{ campaigns: [campaign({ source: SOURCE, translations: { es_mx: HOLA } })] }, []],
      [
        {
          campaigns: [
            campaign({ source: { id_0: "Hi" }, translations: { "fr-FR": { id_0: "Salut" } } }),
          ],
        },
        ["updated campaign Welcome"],
      ],
      [
        { canvases: [{ ...base.canvases[0], steps: base.canvases[0]?.steps.slice(0, 1) }] },
        ["updated canvas Onboarding"],
      ],
      [{ canvases: [] }, ["removed canvas Onboarding"]],
    ];
    for (const [declared, changes] of cases) {
      assert.deepEqual(await changesOf(workspace, declared), changes, JSON.stringify(declared));
    }
    assert.deepEqual(await mapsOf(workspace), { "fr-FR": { id_0: "Salut" } });
    const source = await workspace.call<any>(
      "GET",
      withQuery("/campaigns/translations/source", inCampaign()),
    );
    assert.deepEqual(source.body.translations.translation_map, { id_0: "Hi" });
    const gone = await workspace.call("GET", withQuery("/canvases/translations", inCanvas()));
    assert.match(JSON.stringify(gone.body), /INVALID_CAMPAIGN_ID/);
    assert.deepEqual(await changesOf(workspace, { campaigns: [{ id: WELCOME, name: "Hi" }] }), [
      "updated campaign Hi",
    ]);
    const empty = await workspace.call("GET", withQuery("/campaigns/translations", inCampaign()));
    assert.equal(empty.status, 404);
    assert.deepEqual(await changesOf(workspace, { campaigns: [] }), ["removed campaign Hi"]);
  });

  test("an absent list or absent translations in a manifest leave everything unchanged", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    assert.deepEqual(await changesOf(workspace, {}), []);
    const { campaigns } = translatedWorkspace();
    const messages = campaigns[0]?.messages.map(({ translations: _, ...each }: any) => each);
    assert.deepEqual(
      await changesOf(workspace, { campaigns: [{ ...campaigns[0], messages }] }),
      [],
    );
    assert.deepEqual(await mapsOf(workspace), { "es-MX": HOLA });
  });

  test("a translation from an update is kept unless the manifest declares it", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    for (const locale_id of [SPANISH, FRENCH]) {
      const translation_map = { id_0: "updated", id_1: "updated" };
      const body = { ...inCampaign(), locale_id, translation_map };
      assert.equal((await workspace.call("PUT", "/campaigns/translations", body)).status, 200);
    }
    assert.deepEqual(await changesOf(workspace, translatedWorkspace()), [
      "updated campaign Welcome",
    ]);
    assert.deepEqual(await mapsOf(workspace), {
      "es-MX": HOLA,
      "fr-FR": { id_0: "updated", id_1: "updated" },
    });
    assert.deepEqual(await changesOf(workspace, translatedWorkspace()), []);
  });

  test("a translation update is not lost while a manifest is applied", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    for (let round = 0; round < 12; round++) {
      const translation_map = { id_0: `round ${round}`, id_1: "x" };
      const body = { ...inCampaign(), locale_id: SPANISH, translation_map };
      const campaigns = [{ ...campaign({ source: SOURCE }), name: `Round ${round}` }];
      const [applied, put] = await Promise.all([
        apply(workspace, { campaigns }),
        workspace.call("PUT", "/campaigns/translations", body),
      ]);
      assert.deepEqual([applied.status, put.status], [200, 200]);
      assert.deepEqual((await mapsOf(workspace))["es-MX"], translation_map);
    }
  });

  test("removing a locale keeps its translations until the locale is restored", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const body = { ...inCampaign(), locale_id: FRENCH, translation_map: HOLA };
    await workspace.call("PUT", "/campaigns/translations", body);
    assert.deepEqual(await changesOf(workspace, { locales: [spanish] }), ["removed locale French"]);
    assert.deepEqual(Object.keys(await mapsOf(workspace)), ["es-MX"]);
    assert.deepEqual(await changesOf(workspace, { locales: [spanish, french] }), [
      "created locale French",
    ]);
    assert.deepEqual(Object.keys(await mapsOf(workspace)), ["es-MX", "fr-FR"]);
  });

  test("a message moves between declared campaigns with its translations", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const other = "22222222-0000-4000-8000-000000000002";
    const message = { source: SOURCE, translations: { "es-MX": HOLA } };
    const changes = await changesOf(workspace, {
      campaigns: [
        { id: WELCOME, name: "Welcome" },
        { ...campaign(message, other), name: "Other" },
      ],
    });
    assert.deepEqual(changes, ["created campaign Other", "updated campaign Welcome"]);
    assert.deepEqual(await mapsOf(workspace, inCampaign({ campaign_id: other })), {
      "es-MX": HOLA,
    });
  });

  test("the strings of a message are read from content with translation tags", async () => {
    const workspace = await server.workspace({ ...translatedWorkspace(), canvases: [] });
    const content = {
      subject: "{% translation subject %}Hello{% endtranslation %}",
      body: `<p>{% translation id_0 %}Hi {{\${first_name} | default: "you"}}{% endtranslation %}</p>`,
    };
    const declared = {
      campaigns: [campaign({ content, translations: { "es-MX": { subject: "Hola" } } })],
    };
    assert.deepEqual(await changesOf(workspace, declared), ["updated campaign Welcome"]);
    assert.deepEqual(await changesOf(workspace, declared), []);
    const answer = await workspace.call<any>(
      "GET",
      withQuery("/campaign/translations/source", inCampaign()),
    );
    const source = { subject: "Hello", id_0: `Hi {{\${first_name} | default: "you"}}` };
    assert.deepEqual(answer.body.translations.translation_map, source);
    assert.deepEqual(
      await changesOf(workspace, { campaigns: [campaign({ content, source })] }),
      [],
    );
  });

  test("invalid translations in a manifest are refused with the place and the rule, and nothing is applied", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const [canvas] = translatedWorkspace().canvases;
    const cases: [declared: object, rule: RegExp][] = [
      [{ locales: [{ ...spanish, id: "es" }] }, /'workspaces\[0\].locales\[0\].id' must be a UUID/],
      [
        { locales: [{ ...spanish, locale_key: "spanish mexico" }] },
        /locale_key' must be a language with an optional country/,
      ],
      [
        { locales: [{ id: SPANISH, name: "x", language: "x", locale_key: "x" }] },
        /country' is required/,
      ],
      [{ locales: [{ ...spanish, extra: 1 }] }, /unknown key: 'extra'/],
      [{ locales: [spanish, spanish] }, /the id '.*' twice/],
      [{ locales: [spanish, { ...french, locale_key: "ES_mx" }] }, /the locale_key 'es-mx' twice/],
      [{ locales: [{ ...spanish, name: "a\0" }] }, /'name' .*NUL/],
      [{ campaigns: [{ id: WELCOME }] }, /name' is required/],
      [{ campaigns: [campaign({ id: "1" })] }, /messages\[0\].id' must be a UUID/],
      [
        { campaigns: [campaign({ channel: "push" })] },
        /channel' must be one of email, sms, whatsapp/,
      ],
      [{ campaigns: [campaign({ source: { id_0: 1 } })] }, /source.id_0' must be a string/],
      [
        { campaigns: [campaign({ source: { "a b": "x" } })] },
        /'campaigns\[0\].messages\[0\].source' has the id 'a b'/,
      ],
      [
        { campaigns: [campaign({ translations: { "de-DE": {} } })] },
        /'campaigns\[0\].messages\[0\].translations' has 'de-DE', which is not a locale/,
      ],
      [
        { campaigns: [campaign({ translations: { "es-MX": HOLA, es_MX: HOLA } })] },
        /has the locale 'es-mx' twice/,
      ],
      [
        { campaigns: [campaign({ translations: { "es-MX": { id_0: "{{ x" } } })] },
        /translations.es-MX.id_0': output .* not closed/,
      ],
      [
        { campaigns: [campaign({ content: { body: "{% translation a %}" } })] },
        /messages\[0\].content.body': .*not closed, line:1/,
      ],
      [
        { campaigns: [campaign({ content: { body: "x" }, source: SOURCE })] },
        /source.id_0' differs from the content/,
      ],
      [
        { campaigns: [campaign({}), campaign({}, "22222222-0000-4000-8000-000000000002")] },
        /'campaigns' has the message '.*' twice/,
      ],
      [{ campaigns: [campaign({ id: STEP_MAIL })] }, /belongs to another campaign or canvas/],
      [
        { canvases: [{ ...canvas, steps: [{ id: FIRST_STEP }, { id: FIRST_STEP }] }] },
        /has the step '.*' twice/,
      ],
    ];
    for (const [declared, rule] of cases) {
      const renamed = {
        ...translatedWorkspace(),
        campaigns: [{ id: WELCOME, name: "No", messages: [] }],
      };
      const answer = await apply(workspace, { ...renamed, canvases: [canvas], ...declared });
      assert.ok([400, 409].includes(answer.status), JSON.stringify([declared, answer.body]));
      assert.match(answer.body.message, rule);
    }
    assert.deepEqual(await changesOf(workspace, translatedWorkspace()), []);
  });

  test("a Liquid fault in a manifest is reported with its line in the file", async () => {
    const file = join(await mkdtemp(join(tmpdir(), "rapport-")), "manifest.yaml");
    await writeFile(
      file,
      `company: { name: Test }
workspaces:
  - name: first
  - name: second
    locales:
      - { id: ${SPANISH}, name: Spanish, country: Mexico, language: Spanish, locale_key: es-MX }
    campaigns:
      - id: ${WELCOME}
        name: Welcome
        messages:
          - id: ${WELCOME_MAIL}
            channel: email
            source: { id_0: "Hello" }
            translations:
              es-MX: { id_0: "Hola {{" }
`,
    );
    const place = `${file}:15:22: 'campaigns[0].messages[0].translations.es-MX.id_0': output`;
    const config = await testConfig({ manifest: file });
    await assert.rejects(serve(config), (error: Error) => error.message.startsWith(place));
    await rm(dirname(file), { recursive: true });
  });

  test("multi_language is off by default, for a workspace and for a message", async () => {
    const workspace = await server.workspace({ ...translatedWorkspace(), settings: {} });
    const path = withQuery("/campaigns/translations", inCampaign());
    assert.match(JSON.stringify(await workspace.call("GET", path)), /MULTI_LANGUAGE_NOT_ENABLED"/);
    const { multi_language: _, ...message } = campaign({ source: SOURCE }).messages[0] as any;
    await changesOf(workspace, {
      campaigns: [{ id: WELCOME, name: "Welcome", messages: [message] }],
    });
    const answer = JSON.stringify(await workspace.call("GET", path));
    assert.match(answer, /MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE/);
  });

  test("a reset keeps campaigns, canvases, locales and translations", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const path = `/admin/v1/workspaces/${workspace.name}/reset`;
    assert.equal((await server.admin("POST", path)).status, 200);
    assert.deepEqual(await mapsOf(workspace), { "es-MX": HOLA });
    assert.deepEqual(await mapsOf(workspace, inCanvas()), { "es-MX": HOLA });
  });
});
