/* What happens at the places of a connection that are beyond its root or for others. */
import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { exportOf, listedTablesOf, PATHS, segmentOf } from "./attempts.ts";
import { lastName } from "./named-fields.ts";
import {
  connection,
  FILES,
  refusals,
  S3,
  type Someone,
  someone,
  storage,
  storageHost,
  TRAP,
} from "./scene.ts";

/** What is typed of a place narrows a list at most: it holds what is below the root of the connection. */
export async function narrowsAtMost(field: string): Promise<void> {
  const owner = await someone();
  const files = { connection: await connection(owner.workspace.name, FILES) };
  const all = (await listedTablesOf(owner, files)).body.tables;
  assert.ok(all.includes("in/crm.csv"), all.join());
  const root = "s3://crm/in/";
  const bucket = { connection: await connection(owner.workspace.name, { ...S3, root }) };
  for (const text of [...PATHS, TRAP, "s3://other/in/", "s3://crm/", `s3://${storageHost}#/in/`]) {
    const typed = { [lastName(field)]: text };
    assert.deepEqual((await listedTablesOf(owner, { ...files, ...typed })).body.tables, all);
    const { tables } = (await listedTablesOf(owner, { ...bucket, ...typed })).body;
    assert.ok(
      tables.every((name: string) => name.startsWith(root)),
      `${text}: ${tables}`,
    );
  }
}

/** Every bucket fails in the same words as far as it concerns others, writes nothing, and is in the audit log. */
export async function bucketIsRefused(
  owner: Someone,
  buckets: readonly { connection: string; url: string }[],
  method: string,
) {
  const before = storage.objects.size;
  for (const [index, export_bucket] of buckets.entries()) {
    const { status } = await owner.call(method, `${owner.path}/settings`, { export_bucket });
    assert.equal(status, 200);
    // Keys know of new settings within a second.
    await until(async () => {
      const id = await segmentOf(owner);
      const { body } = await exportOf(owner, id, {});
      return body.url === undefined;
    });
    await until(async () => (await refusals(owner.workspace, "segment_export")).length > index);
  }
  const found = await refusals(owner.workspace, "segment_export");
  const hidden = found.map(({ details }) =>
    buckets.reduce(
      (text, { connection: name, url }) => text.replaceAll(name, "NAME").replaceAll(url, "PLACE"),
      String(details.reason),
    ),
  );
  assert.equal(new Set(hidden).size, 1, hidden.join("\n"));
  assert.equal(storage.objects.size, before);
}
