import { Skeleton } from "@mantine/core";
import { partOf } from "./part.tsx";

/** A line of a chart. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly color: "good" | "bad" | "warn" | "info" | "plain";
  /** The legend's text while no time is pointed at, such as the total. */
  readonly whole: string;
}

export interface ChartProps {
  readonly label: string;
  /** The meaning of a point of the chart. */
  readonly summary: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Behind each value, such as `ms`. */
  readonly unit?: string;
  /** Whether each point is a day, at its midnight in UTC. */
  readonly isDaily?: boolean;
  /** Whether each value counts what happened in its slot, and is drawn as an area. */
  readonly isCount?: boolean;
}

/** The library comes with the first chart, not with the page. */
const Plot = partOf(
  async () => (await import("./plot.tsx")).default,
  <Skeleton height={208} radius="sm" />,
);

/** Lines over time. */
export const Chart = (props: ChartProps) => (
  <figure className="chart">
    <figcaption>
      <strong>{props.label}</strong>
      <span className="dim">{props.summary}</span>
    </figcaption>
    {props.lines.length === 0 ? (
      <p className="plot-empty dim">Nothing in this time</p>
    ) : (
      <Plot {...props} />
    )}
  </figure>
);

/** A chart of several. */
export type ChartOf = Omit<ChartProps, "times" | "isDaily">;

interface ChartsProps extends Pick<ChartProps, "times" | "isDaily"> {
  readonly of: readonly ChartOf[];
}

/** Charts beside each other, over the same times. */
export const Charts = ({ of: charts, ...shared }: ChartsProps) => (
  <div className="charts">
    {charts.map((chart) => (
      <section key={chart.label} className="card card-body" aria-label={chart.label}>
        <Chart {...chart} {...shared} />
      </section>
    ))}
  </div>
);
