/* Numbers and amounts in the reader's locale. */

const NUMBER = new Intl.NumberFormat();

export const numberText = (value: number): string => NUMBER.format(value);

/** As English writes it, for texts in a sentence. */
export const countText = (value: number): string => value.toLocaleString("en");

/** An amount with its currency, with as many digits as the currency has. */
export const amountText = (amount: number, currency: string): string =>
  new Intl.NumberFormat(undefined, { style: "currency", currency }).format(amount);

export const total = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0);
