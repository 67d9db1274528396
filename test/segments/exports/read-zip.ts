import assert from "node:assert/strict";
import { crc32, inflateRawSync } from "node:zlib";

/** The files of a zip archive, read by its directory as unzip does, with their checksums checked. */
export function filesIn(archive: Buffer, startsAt = 0): { name: string; data: Buffer }[] {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  assert.ok(end >= 0, "The archive has no end.");
  let count = archive.readUInt16LE(end + 10);
  let place = archive.readUInt32LE(end + 16);
  if (place === 0xffffffff) {
    const wide = Number(archive.readBigUInt64LE(end - 20 + 8)) - startsAt;
    assert.equal(archive.readUInt32LE(wide), 0x06064b50);
    count = Number(archive.readBigUInt64LE(wide + 32));
    place = Number(archive.readBigUInt64LE(wide + 48));
  }
  place -= startsAt;
  const files: { name: string; data: Buffer }[] = [];
  for (let index = 0; index < count; index++) {
    assert.equal(archive.readUInt32LE(place), 0x02014b50);
    const [crc, packed, size] = [16, 20, 24].map((at) => archive.readUInt32LE(place + at));
    const nameLength = archive.readUInt16LE(place + 28);
    const extraLength = archive.readUInt16LE(place + 30);
    const name = archive.subarray(place + 46, place + 46 + nameLength).toString();
    let offset = archive.readUInt32LE(place + 42);
    if (offset === 0xffffffff) {
      offset = Number(archive.readBigUInt64LE(place + 46 + nameLength + 4));
    }
    offset -= startsAt;
    assert.equal(archive.readUInt32LE(offset), 0x04034b50);
    const begin =
      offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const data = inflateRawSync(archive.subarray(begin, begin + (packed ?? 0)));
    assert.deepEqual([crc32(data), data.length], [crc, size]);
    files.push({ name, data });
    place += 46 + nameLength + extraLength;
  }
  return files;
}
