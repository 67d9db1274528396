/*
 * Texts that break programs which treat them as something else than text. Accepted strings are read
 * back letter for letter, through every read.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../../harness.ts";

const server = await startServer();
const workspace = await server.workspace();

const TIME = "2026-01-01T00:00:00Z";

/** Names of declared things contain none of these: they would end lines of files and logs. */
const CONTROL = /\p{Cc}/u;

const TEXTS: Readonly<Record<string, string>> = {
  "what others take for nothing": "null",
  "what others take for a number": "1e999",
  "a space at each end": " ada ",
  "a line break": "a\r\nb",
  "control characters": "\u0001\u0008\u001b[31m\u007f\u0085",
  "a mark of the encoding at the beginning": "\ufeffada",
  "nothing but a mark of the encoding": "\ufeff",
  "no character of Unicode, and well formed": "\ufffe\uffff",
  "characters without width, and another direction": "a\u200b\u2060\u202eb",
  "a letter with a hundred marks": `e${"\u0301".repeat(100)}`,
  "letters that other cases make longer": "ß\u0130ŉ",
  "signs beyond sixteen bits": "👩‍👩‍👧‍👦🏴‍☠️\u{10ffff}",
  "two forms of one letter": "é e\u0301",
  "a statement": "'; drop table profiles; --",
  "a list in the engine's form": '{"a",NULL,\\"b}',
  "placeholders of statements and formats": "$1 %s %n {0} {{7*7}} #{x} :name ?",
  "a script": '<script>alert("x")</script>',
  "a path": "../../../etc/passwd",
  "percent signs": "%00%2e%ff%",
  "a backslash at the end": "a\\",
  "names of the language": "constructor",
};

describe("unusual text is read back exactly as sent", () => {
  for (const [what, text] of Object.entries(TEXTS)) {
    test(what, async () => {
      const alias = { alias_name: text, alias_label: text };
      const answer = await workspace.track({
        attributes: [
          { external_id: text, first_name: text, value: text, list: [text], object: { in: text } },
          { user_alias: alias, value: text, _update_existing_only: false },
        ],
        events: [{ external_id: text, name: text, time: TIME, properties: { text } }],
        purchases: [{ external_id: text, product_id: text, currency: "USD", price: 1, time: TIME }],
      });
      assert.equal(answer.status, 201);
      assert.equal(answer.body.errors, undefined);

      const found = await workspace.profile({ external_ids: [text] });
      assert.equal(found.external_id, text);
      assert.equal(found.first_name, text);
      assert.deepEqual(found.custom_attributes, {
        value: text,
        list: [text],
        object: { in: text },
      });
      assert.deepEqual([found.custom_events[0].name, found.purchases[0].name], [text, text]);
      const aliased = await workspace.profile({ user_aliases: [alias] });
      assert.deepEqual(aliased.user_aliases, [alias]);
      assert.equal(aliased.custom_attributes.value, text);
    });
  }

  test("an unusual attribute name is read back exactly as sent", async () => {
    const names = Object.values(TEXTS).filter((name) => !/[.$]/.test(name));
    const attributes = Object.fromEntries(names.map((name) => [name, name]));
    const answer = await workspace.track({ attributes: [{ external_id: "names", ...attributes }] });
    assert.equal(answer.body.errors, undefined);
    const found = await workspace.profile({ external_ids: ["names"] });
    assert.deepEqual(found.custom_attributes, attributes);
  });

  test("an API key with an unusual name, but for control characters, can be created, revoked by path and found in the audit log", async () => {
    const keys = `/admin/v1/workspaces/${workspace.name}/api-keys`;
    for (const name of Object.values(TEXTS)) {
      const made = await server.admin("POST", keys, { name, permissions: [] });
      const isRefused = CONTROL.test(name);
      assert.equal(made.status, isRefused ? 400 : 201, name);
      if (isRefused) continue;
      const revoked = await server.admin("DELETE", `${keys}/${encodeURIComponent(name)}`);
      assert.equal(revoked.status, 200, name);
      const { body } = await server.admin(
        "GET",
        `/admin/v1/audit?name=${encodeURIComponent(name)}`,
      );
      assert.equal(body.entries[0].name, name);
    }
  });
});
