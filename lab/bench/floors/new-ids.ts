import { randomFillSync } from "node:crypto";

/** UUIDv7 in binary: the time, and then at random. */
export function newIds(count: number): Uint8Array[] {
  const bytes = randomFillSync(Buffer.allocUnsafe(count * 16));
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => {
    const id = bytes.subarray(index * 16, index * 16 + 16);
    id.writeUIntBE(now, 0, 6);
    id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
    id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
    return id;
  });
}
