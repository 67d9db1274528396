import { fnv1a } from "../../core/base/values/hashes.ts";

/*
 * How many different users are in a set that is not kept: HyperLogLog with 65,536 registers. Its standard error is
 * 1.04 / 256 = 0.4 %, so five of it are the two percent that the overview promises. A union takes the greater of each register.
 * Flajolet and others, 2007; the estimate is Ertl's, 2017 (arXiv 1702.01284), which needs no tables and is right for few users too.
 */

const BITS = 16;
const REGISTERS = 2 ** BITS;
/** Of a hash of 32 bits: the most leading zeros, and one. */
const HIGHEST = 33;

/** A register for each place; 0 if it is empty. */
export type Sketch = Uint8Array;

export const emptySketch = (): Sketch => new Uint8Array(REGISTERS);

/** The place of a user, and the rank there, as one number: what is added to a sketch. */
export function markOf(id: string): number {
  const hash = mixed(fnv1a(id));
  const rank = Math.clz32(mixed(fnv1a(id, REGISTERS))) + 1;
  return ((hash >>> BITS) << 8) | rank;
}

/** Spreads every bit of a hash over all of its bits (the end of MurmurHash3). */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

export function addMark(sketch: Sketch, mark: number): void {
  const place = mark >>> 8;
  const rank = mark & 0xff;
  if ((sketch[place] as number) < rank) sketch[place] = rank;
}

export function addSketch(sketch: Sketch, other: Sketch): void {
  for (let place = 0; place < REGISTERS; place++) {
    const rank = other[place] as number;
    if ((sketch[place] as number) < rank) sketch[place] = rank;
  }
}

/** About how many different users were added. */
export function estimate(sketch: Sketch): number {
  const counts = new Uint32Array(HIGHEST + 1);
  for (const rank of sketch) counts[rank] = (counts[rank] as number) + 1;
  let sum = REGISTERS * tau(1 - (counts[HIGHEST] as number) / REGISTERS);
  for (let rank = HIGHEST - 1; rank >= 1; rank--) sum = (sum + (counts[rank] as number)) / 2;
  sum += REGISTERS * sigma((counts[0] as number) / REGISTERS);
  return Math.round((REGISTERS * REGISTERS) / (2 * Math.LN2) / sum);
}

function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY;
  let [power, factor, sum, before] = [share, 1, share, -1];
  while (sum !== before) {
    power *= power;
    before = sum;
    sum += power * factor;
    factor *= 2;
  }
  return sum;
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let [root, factor, sum, before] = [share, 1, 1 - share, -1];
  while (sum !== before) {
    root = Math.sqrt(root);
    factor /= 2;
    before = sum;
    sum -= (1 - root) ** 2 * factor;
  }
  return sum / 3;
}

/** Three bytes for each used register, or one for each register if that is shorter. */
const ENTRY = 3;

export function packSketch(sketch: Sketch): Buffer {
  const used: number[] = [];
  for (let place = 0; place < REGISTERS; place++) if (sketch[place]) used.push(place);
  if (used.length * ENTRY >= REGISTERS) return Buffer.from(sketch);
  const packed = Buffer.alloc(used.length * ENTRY);
  for (const [index, place] of used.entries()) {
    packed.writeUInt16BE(place, index * ENTRY);
    packed[index * ENTRY + 2] = sketch[place] as number;
  }
  return packed;
}

export function addPacked(sketch: Sketch, packed: Buffer): void {
  if (packed.length === REGISTERS) {
    addSketch(sketch, packed);
    return;
  }
  for (let at = 0; at < packed.length; at += ENTRY) {
    addMark(sketch, (packed.readUInt16BE(at) << 8) | (packed[at + 2] as number));
  }
}
