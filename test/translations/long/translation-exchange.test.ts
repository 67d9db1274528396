import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import {
  FRENCH,
  HOLA,
  inCampaign,
  NOBODY,
  translatedWorkspace,
  WELCOME_MAIL,
  withQuery,
} from "../../translated-workspace.ts";

const server = await startServer();

const pathOf = ({ name }: TestWorkspace, format: string, id = WELCOME_MAIL) =>
  `/admin/v1/workspaces/${name}/messages/${id}/translations.${format}`;

const TYPE_OF = { csv: "text/csv", xliff: "application/xliff+xml" };

const exportFrom = async (workspace: TestWorkspace, format: string, query = "") =>
  server.admin("GET", pathOf(workspace, format) + query);

const importInto = (
  workspace: TestWorkspace,
  format: "csv" | "xliff",
  raw: string | Uint8Array,
  type = TYPE_OF[format],
) =>
  server.send("PUT", pathOf(workspace, format), undefined, {
    key: server.adminToken,
    raw,
    headers: { "content-type": type },
  });

async function mapsOf(workspace: TestWorkspace): Promise<any> {
  const path = withQuery("/campaigns/translations", inCampaign());
  const answer = await workspace.call<any>("GET", path);
  return Object.fromEntries(
    answer.body.translations.map((each: any) => [each.locale.locale_key, each.translation_map]),
  );
}

const xliff = (units: string, language = "fr-FR") =>
  `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="x" source-language="en" target-language="${language}" datatype="plaintext"><body>${units}</body></file></xliff>`;

const SALUT = { id_0: "Salut, =toi", id_1: "-20 %\r\n<b>&" };

describe("translations as files", () => {
  test("translations are exported as CSV or XLIFF, for all locales or one, and imported back unchanged", async () => {
    for (const format of ["csv", "xliff"] as const) {
      const workspace = await server.workspace(translatedWorkspace());
      const body = { ...inCampaign(), locale_id: FRENCH, translation_map: SALUT };
      await workspace.call("PUT", "/campaigns/translations", body);
      const whole = await exportFrom(workspace, format);
      assert.equal(whole.status, 200);
      assert.equal(whole.headers.get("content-type"), `${TYPE_OF[format]}; charset=utf-8`);
      assert.match(whole.headers.get("content-disposition") ?? "", /^attachment; filename="/);
      assert.ok(whole.body.includes("Hola") && whole.body.includes("Salut"));
      const one = await exportFrom(workspace, format, `?locale_id=${FRENCH}`);
      assert.ok(!one.body.includes("Hola") && one.body.includes("Salut"));

      const empty = await server.workspace({
        ...translatedWorkspace(),
        campaigns: [
          {
            ...translatedWorkspace().campaigns[0],
            messages: [
              {
                id: WELCOME_MAIL,
                channel: "email",
                multi_language: true,
                source: { id_0: "Hello", id_1: "Buy now" },
              },
            ],
          },
        ],
      });
      const imported = await importInto(empty, format, whole.body);
      assert.deepEqual(imported.body, {
        imported: [
          { locale_key: "es-MX", strings: 2, missing: [] },
          { locale_key: "fr-FR", strings: 2, missing: [] },
        ],
        message: "success",
      });
      assert.deepEqual(await mapsOf(empty), { "es-MX": HOLA, "fr-FR": SALUT });
      assert.deepEqual((await exportFrom(empty, format)).body, whole.body);
    }
  });

  test("a translation import keeps strings that the file omits, and the response names missing strings", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const csv = await importInto(workspace, "csv", "id,es-MX,fr-FR\nid_0,Buenas,Salut\nid_1,,\n");
    assert.deepEqual(csv.body.imported, [
      { locale_key: "es-MX", strings: 1, missing: [] },
      { locale_key: "fr-FR", strings: 1, missing: ["id_1"] },
    ]);
    const unit = `<trans-unit id="id_1"><source>Buy now</source><target>Achetez</target></trans-unit>`;
    const second = await importInto(workspace, "xliff", xliff(unit, "FR-fr"), "application/xml");
    assert.deepEqual(second.body.imported, [{ locale_key: "fr-FR", strings: 1, missing: [] }]);
    assert.deepEqual(await mapsOf(workspace), {
      "es-MX": { ...HOLA, id_0: "Buenas" },
      "fr-FR": { id_0: "Salut", id_1: "Achetez" },
    });
  });

  test("an imported string with an unknown id, an outdated source or no translation is skipped and reported", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const csv = "id,source,es-MX\nid_0,  Hello ,Buenas\nid_1,Buy,Compra\nid_9,x,y\n";
    const answer = await importInto(workspace, "csv", csv);
    assert.deepEqual(answer.body, {
      imported: [{ locale_key: "es-MX", strings: 1, missing: [] }],
      skipped: [
        {
          message:
            "'id_1' in es-MX: it was translated from a different text than the message now has.",
          code: "SOURCE_CHANGED",
          input_array: "rows",
          index: 1,
        },
        {
          message: "'id_9' in es-MX: the message has no such string.",
          code: "UNKNOWN_TRANSLATION_ID",
          input_array: "rows",
          index: 2,
        },
      ],
      skipped_count: 2,
      message: "success",
    });
    const unit = `<trans-unit id="id_0"><source>Hello</source><target state="new">Hello</target></trans-unit>`;
    const draft = await importInto(workspace, "xliff", xliff(unit));
    assert.deepEqual(draft.body.imported, []);
    assert.deepEqual(
      draft.body.skipped.map((each: any) => [each.code, each.input_array, each.index]),
      [["NOT_TRANSLATED", "trans-units", 0]],
    );
    assert.deepEqual(await mapsOf(workspace), { "es-MX": { ...HOLA, id_0: "Buenas" } });
  });

  test("ids and column names of a translation file are quoted in part, however long they are", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const long = "x".repeat(20_000);
    const skipped = await importInto(workspace, "csv", `id,${long}\n${long},a\nid_9,b\n`);
    assert.equal(skipped.body.skipped_count, 2);
    assert.ok(JSON.stringify(skipped.body).length < 1_000);
    for (const csv of [
      `id,${long}\nid_0,a\n`,
      `id,${long},${long}\nid_0,a,b\n`,
      `id,es-MX\n${long},a\n${long},b\n`,
    ]) {
      const { body } = await importInto(workspace, "csv", csv);
      assert.ok(JSON.stringify(body).length < 1_000, JSON.stringify(body).slice(0, 200));
    }
  });

  test("a faulty translation file is refused with the reason, and none of it is imported", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const good = "id,es-MX,fr-FR\nid_0,Buenas,Salut\n";
    const cases: [format: "csv" | "xliff", text: string, reason: RegExp][] = [
      ["csv", `${good}id_1,x\n`, /line 3/],
      ["csv", `${good}id_0,a,b\n`, /'id_0' in es-MX twice/],
      ["csv", good.replace("fr-FR", "de-DE"), /'de-DE', which is not a locale/],
      ["csv", `${good}id_1,{{ x,y\n`, /'es-MX.id_1': output .* not closed/],
      ["csv", "", /The body must be|first column/],
      ["xliff", "<xliff/>", /not XLIFF 1.2/],
      [
        "xliff",
        `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xliff("")}`,
        /document type/,
      ],
      [
        "xliff",
        xliff(`<trans-unit id="id_0"><source>Hello</source><target>\u0000</target></trans-unit>`),
        /disallowed character|NUL character/,
      ],
    ];
    for (const [format, text, reason] of cases) {
      const answer = await importInto(workspace, format, text);
      assert.equal(answer.status, 400, text);
      assert.match(answer.body.message, reason);
    }
    const latin1 = await importInto(
      workspace,
      "csv",
      Buffer.from("id,es-MX\nid_0,adiós\n", "latin1"),
    );
    assert.equal(latin1.status, 400);
    assert.match(latin1.body.message, /not UTF-8/);
    assert.deepEqual(await mapsOf(workspace), { "es-MX": HOLA });
  });

  test("a translation import of an undeclared content type gets 415, and one over 4 MB gets 413", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const cases: [format: "csv" | "xliff", type: string, message: RegExp][] = [
      ["csv", "application/json", /must be text\/csv\./],
      ["csv", "application/xml", /must be text\/csv\./],
      ["csv", "text/plain", /must be text\/csv\./],
      ["xliff", "text/csv", /must be application\/xliff\+xml or application\/xml or text\/xml\./],
      ["xliff", "application/json", /must be application\/xliff\+xml/],
    ];
    for (const [format, type, message] of cases) {
      const answer = await importInto(workspace, format, "{}", type);
      assert.equal(answer.status, 415, `${format} ${type}`);
      assert.match(answer.body.message, message);
    }
    const withCharset = await importInto(workspace, "csv", "id,es-MX\n", "Text/CSV; charset=utf-8");
    assert.equal(withCharset.status, 200);
    const track = await workspace.call("POST", "/users/track", undefined, {
      raw: "id,es\n",
      headers: { "content-type": "text/csv" },
    });
    assert.equal(track.status, 415);
    const large = await importInto(workspace, "csv", `id,es-MX\n${"x".repeat(4_194_304)}`);
    assert.equal(large.status, 413);
  });

  test("a translation file of an unknown message, locale or workspace gets 404, and an API key gets 401", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    for (const format of ["csv", "xliff"] as const) {
      const noMessage = await server.admin("GET", pathOf(workspace, format, NOBODY));
      assert.deepEqual(
        [noMessage.status, noMessage.headers.get("content-type")],
        [404, "application/json; charset=utf-8"],
      );
      assert.equal((await exportFrom(workspace, format, `?locale_id=${NOBODY}`)).status, 404);
      const nowhere = { ...workspace, name: "nobody" };
      assert.equal((await exportFrom(nowhere, format)).status, 404);
      assert.equal(
        (await importInto(nowhere, format, format === "csv" ? "id\n" : xliff(""))).status,
        404,
      );
      assert.equal((await workspace.call("GET", pathOf(workspace, format))).status, 401);
    }
  });

  test("an XLIFF export is refused with the name of a string that XML cannot hold; the CSV export includes it", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const translation_map = { ...HOLA, id_1: "a\u0001b" };
    const body = { ...inCampaign(), locale_id: FRENCH, translation_map };
    await workspace.call("PUT", "/campaigns/translations", body);
    const refused = await exportFrom(workspace, "xliff");
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, /'id_1' holds the character U\+0001/);
    const csv = await exportFrom(workspace, "csv");
    await importInto(workspace, "csv", csv.body);
    assert.deepEqual((await mapsOf(workspace))["fr-FR"], translation_map);
  });
});
