/* The lists that server/assemble.ts makes from the list of parts (server/app.ts). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { APPLIED, PARTS } from "../../src/server/app.ts";
import { assemble } from "../../src/server/assemble.ts";
import { TAGS } from "../../src/server/reference/tags.ts";

const app = await assemble();

describe("the parts of the server", () => {
  test("every part has the name of its place in the list", () => {
    assert.deepEqual(
      app.parts.map(({ name }) => name),
      Object.keys(PARTS),
    );
  });

  test("a manifest applies what an entry refers to before the entry, whatever the order of the features is", () => {
    const keys = [...app.companyResources, ...app.resources].map(({ key }) => key);
    const unlisted = keys.filter((key) => !APPLIED.includes(key));
    assert.deepEqual(
      unlisted,
      [],
      "Give it a place in APPLIED (server/app.ts), after what it refers to.",
    );
    const before = (first: string, ...then: readonly string[]) => {
      for (const each of then) {
        if (keys.includes(first) && keys.includes(each)) {
          assert.ok(keys.indexOf(first) < keys.indexOf(each), `${first} before ${each}`);
        }
      }
    };
    // Checked addresses of mail, and what integrations read through.
    before("mail_domains", "integrations", "webhooks");
    before("connections", "integrations");
    before("permission_sets", "scim_defaults");
    // Messages have translations by locale; a center offers groups; a page may show a segment.
    before("locales", "campaigns", "canvases");
    before("subscription_groups", "preference_centers");
  });

  test("a reset stops what writes users before it deletes any, and a deletion removes the secrets of keys first", () => {
    for (const [all, field] of [
      [[...app.erasers.first, ...app.erasers.later], "reset"],
      [app.referenceErasers, "deletion"],
    ] as const) {
      const first = app.parts.flatMap((part): readonly unknown[] => part[field]?.first ?? []);
      const later = app.parts.flatMap((part): readonly unknown[] => part[field]?.later ?? []);
      assert.ok(first.length > 0, field);
      assert.deepEqual([...all], [...first, ...later]);
    }
    const named = (part: string) => app.parts.find(({ name }) => name === part);
    // A running sync could create users again.
    assert.ok(!named("warehouses")?.reset?.later);
    assert.ok(!named("access")?.deletion?.later);
  });

  test("every path of a part stands below a tag of the reference", () => {
    const tags = TAGS.map(({ name }) => name);
    assert.deepEqual(
      app.reference.filter(({ tag }) => !tags.includes(tag)),
      [],
    );
  });
});
