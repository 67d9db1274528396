/* The faults of the embedded engine. docs/operations/faults.md has a row for each, and names the tests of the others. */

import { join } from "node:path";
import { test } from "node:test";
import { ENGINE, startOwnServer } from "../harness.ts";
import { assertSurvives } from "./faults.ts";
import { mountSmallDisk } from "./small-disk.ts";

const isEmbedded = ENGINE === "embedded";

test("while the disk of the data folder is full requests get 503, health names the disk, and both recover with space", async (t) => {
  const disk = isEmbedded ? await mountSmallDisk(90) : undefined;
  if (!disk) return t.skip("it needs the embedded engine, and root to mount a disk");
  const server = await startOwnServer({ dataDir: join(disk.folder, "data") });
  const note = "x".repeat(20_000);
  await assertSurvives(server, {
    begin: () => disk.fill(0),
    end: () => disk.free(),
    says: /^The disk of the data folder is full\.$/,
    body: {
      events: Array.from({ length: 50 }, (_, index) => ({
        external_id: `large-${index}`,
        name: "came",
        time: "2026-01-01T00:00:00Z",
        properties: { note: `${index}${note}` },
      })),
    },
  });
});
