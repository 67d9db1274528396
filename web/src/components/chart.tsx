import { Skeleton } from "@mantine/core";
import { lazy, Suspense } from "react";

/** A line of a chart. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly color: "good" | "bad" | "warn" | "info" | "plain";
}

export interface ChartProps {
  readonly label: string;
  /** What the lines say, for those who do not see them. */
  readonly summary: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Behind each value, such as `ms`. */
  readonly unit?: string;
}

/** The library comes with the first chart, not with the page. */
const Plot = lazy(() => import("./plot.tsx"));

/** Lines over time. */
export const Chart = (props: ChartProps) => (
  <figure className="chart">
    <figcaption>
      <strong>{props.label}</strong>
      <span className="dim">{props.summary}</span>
    </figcaption>
    <Suspense fallback={<Skeleton height={180} radius="sm" />}>
      <Plot {...props} />
    </Suspense>
  </figure>
);
