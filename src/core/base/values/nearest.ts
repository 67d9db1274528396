/** The name that a misspelled one most likely means; undefined if none is similar. */
export function nearestTo(name: string, known: Iterable<string>): string | undefined {
  // One slip for every four letters, two at most.
  let best = Math.min(2, Math.floor(name.length / 4)) + 1;
  let nearest: string | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= best) continue;
    const slips = slipsBetween(name, candidate);
    if (slips >= best) continue;
    [best, nearest] = [slips, candidate];
  }
  return nearest;
}

/** How many letters are wrong, missing, too many, or in the place of their neighbour. */
function slipsBetween(one: string, other: string): number {
  let [before, row]: [number[], number[]] = [
    [],
    Array.from({ length: other.length + 1 }, (_, i) => i),
  ];
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      let slips = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (isSame ? 0 : 1));
      const isSwapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwapped) slips = Math.min(slips, at(before, j - 2) + 1);
      next.push(slips);
    }
    [before, row] = [row, next];
  }
  return at(row, other.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
