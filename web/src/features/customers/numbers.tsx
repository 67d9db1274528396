import { numberText } from "../../components/numbers.ts";

const PERCENT = new Intl.NumberFormat(undefined, {
  style: "percent",
  maximumFractionDigits: 0,
  signDisplay: "exceptZero",
});

/** How much more or less than in the period before. */
export function Change({ value, before }: { readonly value: number; readonly before: number }) {
  if (before <= 0) return <span className="dim">{value > 0 ? "none before" : "–"}</span>;
  return (
    <span className="dim" title={`${numberText(before)} before`}>
      {PERCENT.format(value / before - 1)} <span className="hidden">compared with before</span>
    </span>
  );
}
