import { createHash } from "node:crypto";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a: a quick hash of 32 bits, signed and the same in every process. @param seed gives other hashes. */
export function fnv1a(text: string, seed?: number): number {
  let hash = seed === undefined ? FNV_BASIS : Math.imul(FNV_BASIS ^ seed, FNV_PRIME);
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  return hash;
}
