export const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const each of numbers) total += each;
  return total;
};
