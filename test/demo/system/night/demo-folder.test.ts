/* The folder of `rapport demo`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../../../stored-rows.ts";
import { post, runCommand, startChild } from "../../../system/child-server.ts";

const server = await startChild({ DATA_DIR: "memory:" }, { args: ["demo"] });

/** A demo that should be refused and is not ends here, instead of serving for ever. */
const taken = new URL(server.url).port;

describe("the folder of a demo", () => {
  test("rapport demo with a new folder keeps the shop there, and rapport serve serves it again", async () => {
    const folder = join(await temporaryFolder(), "shop");
    const first = await startChild({ DATA_DIR: folder }, { args: ["demo", folder] });
    await first.end("SIGTERM");
    const again = await runCommand(["demo", folder], { PORT: taken });
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      /^rapport: The folder .*shop is not empty\. .* npx rapport-server serve\.\n$/,
    );
    const second = await startChild({ DATA_DIR: folder });
    const { body } = await post(`${second.url}/users/export/ids`, second.key, {
      external_ids: ["tw-10000", "tw-11999"],
      fields_to_export: ["external_id"],
    });
    assert.equal(body.users.length, 2);
  });
});
