/* Pages put together at random from pieces of Liquid and HTML. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { startServer } from "../../harness.ts";
import { center, emptyWorkspace, openPage, PATH, pageOf } from "../../preference-center-calls.ts";
import { sized } from "../../sizes.ts";

const server = await startServer();
const workspace = await emptyWorkspace(server);

test("any page is refused or can be opened", async () => {
  await workspace.track({ attributes: [{ external_id: "any", plan: "x" }] });
  const piece = fc.constantFrom(
    ...`<p> </p> <div class=" "> </div> <input type=checkbox name= > < & &lt; <!-- --> {{ }} {% %} {% if x %} {% else %} {% endif %} {% for i in (1..3) %} {% endfor %} \${first_name} {{\${first_name}}} {% raw %} {% endraw %} {% form_field_name :email_global_state %} <html> <head> <body> </html> <title> </title> <style> </style> {% case x %} {% when 1 %} {% endcase %} {% translation a %} {% endtranslation %} ' =`.split(
      " ",
    ),
  );
  const page = fc
    .array(fc.oneof(piece, fc.string({ maxLength: 5 })), { minLength: 1, maxLength: 30 })
    .map((pieces) => pieces.join(" "));
  let count = 0;
  await fc.assert(
    fc.asyncProperty(page, async (html) => {
      const body = center({ name: `any-${count++}`, preference_center_page_html: html });
      const answer = await workspace.call<any>("POST", PATH, body);
      assert.ok([201, 400].includes(answer.status), `${answer.status}: ${html}`);
      if (answer.status === 400) return;
      const path = await pageOf(workspace, answer.body.preference_center_api_id, "any");
      assert.equal((await openPage(server, path)).status, 200, html);
    }),
    { numRuns: sized(150, 1_000) },
  );
});
