/** A decimal as a whole number of units of 10 to the power of minus `digits`. */
interface Scaled {
  readonly units: bigint;
  readonly digits: number;
}

function scaledOf(decimal: string): Scaled {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return { units: BigInt(whole + fraction), digits: fraction.length };
}

function textOf({ units, digits }: Scaled): string {
  const text = String(units < 0n ? -units : units).padStart(digits + 1, "0");
  const point = text.length - digits;
  const fraction = digits > 0 ? `.${text.slice(point)}` : "";
  return `${units < 0n ? "-" : ""}${text.slice(0, point)}${fraction}`;
}

/** Adds two decimals such as `-12.50` exactly, with as many digits as the longer one has. */
export function addDecimals(one: string, other: string): string {
  const [a, b] = [scaledOf(one), scaledOf(other)];
  const digits = Math.max(a.digits, b.digits);
  const raised = ({ units, digits: own }: Scaled) => units * 10n ** BigInt(digits - own);
  return textOf({ units: raised(a) + raised(b), digits });
}

/** An amount in a currency's base unit, such as `12.50`, as the number of its hundredths: 1250. */
export function centsOf(amount: string): number {
  const { units, digits } = scaledOf(amount);
  if (digits <= 2) return Number(units * 10n ** BigInt(2 - digits));
  return Number(textOf({ units, digits: digits - 2 }));
}

/** A decimal times a whole number, exactly. */
export function multiplyDecimal(decimal: string, factor: number): string {
  const { units, digits } = scaledOf(decimal);
  return textOf({ units: units * BigInt(factor), digits });
}
