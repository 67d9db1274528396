const WIDTH = 120;
const HEIGHT = 24;

/** A line over some days, without axes. */
export function Sparkline({
  label,
  values,
}: {
  readonly label: string;
  readonly values: readonly number[];
}) {
  if (values.length < 2) return <span className="dim">–</span>;
  const highest = Math.max(1, ...values);
  const step = WIDTH / (values.length - 1);
  const points = values
    .map(
      (value, index) =>
        `${(index * step).toFixed(1)},${(HEIGHT - 1 - (value / highest) * (HEIGHT - 2)).toFixed(1)}`,
    )
    .join(" ");
  return (
    <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <polyline points={points} />
    </svg>
  );
}
