import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { ChartProps } from "./chart.tsx";

/* uPlot draws on a canvas: some thousands of points in a few milliseconds. It is loaded by chart.tsx. */

const HEIGHT = 180;

export default function Plot({
  label,
  times,
  lines,
  unit = "",
  isCount = false,
  isDaily = false,
}: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const scheme = useComputedColorScheme();
  const names = lines.map(({ name, color }) => `${name} ${color}`).join();
  const data = useRef<UPlot.AlignedData>([[]]);
  data.current = [times, ...lines.map(({ values }) => values)] as UPlot.AlignedData;
  const drawn = useRef(lines);
  drawn.current = lines;

  // biome-ignore lint/correctness/useExhaustiveDependencies: other lines or another theme need another plot
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const width = element.clientWidth;
    const created = new UPlot(
      optionsOf(element, { lines: drawn.current, unit, isCount, isDaily }, width),
      data.current,
      element,
    );
    plot.current = created;
    const resized = new ResizeObserver(() => {
      const { clientWidth } = element;
      if (clientWidth !== created.width) created.setSize({ width: clientWidth, height: HEIGHT });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      created.destroy();
    };
  }, [scheme, names, unit, isCount, isDaily]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot follows the data
  useEffect(() => plot.current?.setData(data.current), [times, lines]);

  const said = lines.map(({ name, whole }) => `${name} ${whole}`).join(", ");
  return <div ref={frame} role="img" aria-label={`${label}: ${said}`} className="plot" />;
}

type Drawn = Required<Pick<ChartProps, "lines" | "unit" | "isCount" | "isDaily">>;

function optionsOf(
  element: HTMLElement,
  { lines, unit, isCount, isDaily }: Drawn,
  width: number,
): UPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const colorOf = (line: number) => color(`--chart-${lines[line]?.color ?? "plain"}`);
  const axis = {
    stroke: color("--mantine-color-dimmed"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  return {
    width,
    height: HEIGHT,
    ...(isDaily && { tzDate: (at) => UPlot.tzDate(new Date(at * 1_000), "Etc/UTC") }),
    // All charts of a page show the same moment.
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: "page" } },
    legend: { live: true, markers: { width: 0, fill: (_plot, line) => colorOf(line - 1) } },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(most ?? 0, 1) * 1.08] } },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_plot, times) => times.map((at) => (isDaily ? DAYS : HOURS).format(at * 1_000)),
      },
      { ...axis, size: 44, values: (_plot, values) => values.map(shortNumber) },
    ],
    series: [
      {
        label: isDaily ? "Day" : "Time",
        value: (_plot, at) => (at ? (isDaily ? DAY : TIME).format(new Date(at * 1_000)) : "all"),
      },
      ...lines.map((line, index) => ({
        label: line.name,
        stroke: colorOf(index),
        width: 1.5,
        spanGaps: false,
        ...(isCount && { fill: `${colorOf(index)}22`, ...(steps && { paths: steps }) }),
        points: { size: 4, filter: aloneIn },
        value: (plot: UPlot, value: number | null) => {
          if (plot.cursor.idx === null || plot.cursor.idx === undefined) return line.whole;
          return value === null ? "–" : `${shortNumber(value)}${unit && ` ${unit}`}`;
        },
      })),
    ],
  };
}

/** A count is shown for its whole slot. */
const steps = UPlot.paths.stepped?.({ align: 1 });

/** Only a value between two gaps is a point: no line connects to it. */
const aloneIn: UPlot.Series.Points.Filter = (plot, line) => {
  const values = plot.data[line] ?? [];
  const isGap = (index: number) => (values[index] ?? null) === null;
  return [...values.keys()].filter(
    (index) => !isGap(index) && isGap(index - 1) && isGap(index + 1),
  );
};

const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const DATE = { day: "numeric", month: "short", timeZone: "UTC" } as const;
const HOURS = new Intl.DateTimeFormat("en", CLOCK);
const TIME = new Intl.DateTimeFormat("en", { ...CLOCK, second: "2-digit", timeZoneName: "short" });
const DAYS = new Intl.DateTimeFormat(undefined, DATE);
const DAY = new Intl.DateTimeFormat(undefined, { ...DATE, weekday: "short" });
const NUMBER = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const shortNumber = (value: number): string => NUMBER.format(value);
