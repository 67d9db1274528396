import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { ChartProps, Line } from "./chart.tsx";

/* uPlot draws on a canvas: some thousands of points in a few milliseconds. It is loaded by chart.tsx. */

const HEIGHT = 180;

export default function Plot({ label, times, lines, unit = "" }: ChartProps) {
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
      optionsOf(element, drawn.current, unit, width),
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
  }, [scheme, names, unit]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn follows the data
  useEffect(() => plot.current?.setData(data.current), [times, lines]);

  return <div ref={frame} role="img" aria-label={label} className="plot" />;
}

const COLORS: Readonly<Record<Line["color"], string>> = {
  good: "--chart-good",
  bad: "--chart-bad",
  warn: "--chart-warn",
  info: "--chart-info",
  plain: "--chart-plain",
};

function optionsOf(
  element: HTMLElement,
  lines: readonly Line[],
  unit: string,
  width: number,
): UPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color("--mantine-color-dimmed"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  return {
    width,
    height: HEIGHT,
    cursor: { y: false },
    legend: { live: true },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(most ?? 0, 1) * 1.08] } },
    axes: [
      { ...axis, values: (_plot, times) => times.map((at) => HOURS.format(at * 1_000)) },
      { ...axis, size: 48, values: (_plot, values) => values.map(shortNumber) },
    ],
    series: [
      { value: (_plot, at) => (at ? TIME.format(new Date(at * 1_000)) : "–") },
      ...lines.map((line) => ({
        label: line.name,
        stroke: color(COLORS[line.color]),
        width: 1.5,
        spanGaps: false,
        points: { size: 4 },
        value: (_plot: UPlot, value: number | null) =>
          value === null || value === undefined
            ? "–"
            : `${shortNumber(value)}${unit && ` ${unit}`}`,
      })),
    ],
  };
}

const HOURS = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const TIME = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23" });
const NUMBER = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const shortNumber = (value: number): string => NUMBER.format(value);
