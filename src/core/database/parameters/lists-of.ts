/** The values of some members of rows, a list for each member: what `unnest` turns into rows again. */
export const listsOf = <Row>(
  rows: readonly Row[],
  ...members: readonly (keyof Row)[]
): readonly (readonly unknown[])[] => members.map((member) => rows.map((row) => row[member]));
