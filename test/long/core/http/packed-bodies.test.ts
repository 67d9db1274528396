import assert from "node:assert/strict";
import { request } from "node:http";
import { describe, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { startServer } from "../../../harness.ts";

const server = await startServer();
const workspace = await server.workspace();

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

const countOf = async (id: string): Promise<number> => {
  const found = await workspace.profiles({ external_ids: [id] });
  return found[0]?.custom_events?.[0]?.count ?? 0;
};

describe("a compressed body", () => {
  const sendPacked = (encoding: string, raw: Uint8Array) =>
    workspace.track(undefined, { raw, headers: { "content-encoding": encoding } });
  const plain = Buffer.from(JSON.stringify(EVENT));
  const PACKERS = {
    gzip: gzipSync,
    "x-gzip": gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
  };

  for (const [encoding, pack] of Object.entries(PACKERS)) {
    test(`a body packed with ${encoding} is unpacked`, async () => {
      assert.equal((await sendPacked(encoding, pack(plain))).status, 201);
    });

    test(`a ${encoding} body of more than 4 MB unpacked is refused`, async () => {
      const answer = await sendPacked(encoding, pack(Buffer.alloc(50_000_000, " ")));
      assert.deepEqual(
        [answer.status, answer.body.message],
        [413, "The body is larger than 4 MB."],
      );
    });

    test(`a ${encoding} body that is truncated or not ${encoding} is refused with 400`, async () => {
      for (const raw of [pack(plain).subarray(0, -12), plain]) {
        const answer = await sendPacked(encoding, raw);
        assert.equal(answer.status, 400);
        assert.match(answer.body.message, /does not match its Content-Encoding/);
      }
    });
  }

  test("a packed body of exactly 4 MB unpacked is accepted", async () => {
    const body = Buffer.alloc(4_194_304, " ");
    plain.copy(body);
    assert.equal((await sendPacked("gzip", gzipSync(body))).status, 201);
    const larger = Buffer.alloc(4_194_305, " ");
    plain.copy(larger);
    assert.equal((await sendPacked("gzip", gzipSync(larger))).status, 413);
  });

  test("an unknown Content-Encoding is refused with the known ones, and identity means uncompressed", async () => {
    for (const encoding of ["zstd", "gzip, br", "__proto__", "constructor"]) {
      const answer = await sendPacked(encoding, plain);
      assert.equal(answer.status, 415, encoding);
      assert.match(answer.body.message, /must be gzip, deflate or br/);
    }
    assert.equal((await sendPacked("identity", plain)).status, 201);
  });

  test("an Idempotency-Key treats a packed body and its plain form as the same request", async () => {
    const headers = { "idempotency-key": "packed" };
    const body = { events: [{ ...EVENT.events[0], external_id: "packed" }] };
    const first = await workspace.track(body, { headers });
    const again = await workspace.track(undefined, {
      raw: gzipSync(JSON.stringify(body)),
      headers: { ...headers, "content-encoding": "gzip" },
    });
    assert.deepEqual(again.body, first.body);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal(await countOf("packed"), 1);
  });

  test("a chunked body is accepted, and refused beyond 4 MB", async () => {
    const chunked = (text: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${workspace.key}`,
          "content-type": "application/json",
          "transfer-encoding": "chunked",
        };
        const sent = request(`${server.url}/users/track`, { method: "POST", headers }, (answer) => {
          answer.resume().once("close", () => resolve(answer.statusCode));
        });
        sent.once("error", reject).end(text);
      });
    assert.equal(await chunked(plain.toString()), 201);
    assert.equal(await chunked(plain.toString().padEnd(4_194_305)), 413);
  });
});
