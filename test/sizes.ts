/**
 * How much a test with random inputs or random times does: each turn can find a fault, and none
 * proves that there is none. `npm test` takes few turns; with TEST_THOROUGH=1, as `.ci/nightly`
 * sets it, the tests take many.
 */
export const sized = <Size>(usual: Size, thorough: Size): Size =>
  process.env.TEST_THOROUGH ? thorough : usual;

/** Why a test does not run for each change, where others of its kind do; false in the night. */
export const inTheNight = sized<string | false>("it runs in the night", false);

/** The first few of a kind for each change, and all of them in the night. */
export const sample = <Each>(all: readonly Each[], few: number): readonly Each[] =>
  sized(all.slice(0, few), all);

/**
 * Whether it is the turn of the next of a kind: of one in so many for each change, different ones in each run, and of all in
 * the night.
 */
export function oneIn(many: number): () => boolean {
  const share = sized(many, 1);
  let turn = Math.floor(Math.random() * share);
  return () => turn++ % share === 0;
}
