import type { Latency, Result } from "../result.ts";

const WIDTH = 720;
const LABEL_WIDTH = 170;
const VALUE_WIDTH = 120;
const BAR_HEIGHT = 26;
const GAP = 12;
const TOP = 64;

const COLOURS = { floor: "#b8c4d0", rapport: "#2f6f9f" };

/** A result as an SVG: the rates of the two floors and of the server as bars, latencies below. */
export function chartOf(result: Result): string {
  const bars = [
    { label: "bare HTTP server", measured: result.bareHttp, colour: COLOURS.floor },
    { label: "plain SQL", measured: result.plainSql, colour: COLOURS.floor },
    { label: "Rapport", measured: result.saturated, colour: COLOURS.rapport },
  ].map(({ measured, ...rest }) => ({ ...rest, rate: measured.unitsPerSecond }));
  const most = Math.max(...bars.map((bar) => bar.rate));
  const rows = bars.map(({ label, colour, rate }, index) => {
    const y = TOP + index * (BAR_HEIGHT + GAP);
    const width = Math.max(1, (rate / most) * (WIDTH - LABEL_WIDTH - VALUE_WIDTH));
    const middle = y + BAR_HEIGHT / 2 + 5;
    return [
      text(LABEL_WIDTH - 10, middle, label, 'text-anchor="end"'),
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="3" fill="${colour}"/>`,
      text(LABEL_WIDTH + width + 8, middle, rate.toLocaleString("en-US")),
    ].join("\n");
  });
  const below = TOP + bars.length * (BAR_HEIGHT + GAP) + 16;
  const { workload, engine, users, unit, machine } = result;
  const title = `${workload}, ${engine}: ${unit} per second, ${users.toLocaleString("en-US")} users`;
  const subtitle = `${machine.cores} cores (${machine.processor}), ${machine.database}, Node ${machine.node}`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${below + 40}" ` +
      `viewBox="0 0 ${WIDTH} ${below + 40}" font-family="sans-serif" font-size="13">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(16, 26, title, 'font-size="16" font-weight="bold"'),
    text(16, 46, subtitle, 'fill="#667788"'),
    ...rows,
    text(16, below, latencyLine("at saturation", result.saturated.latencyMs)),
    text(16, below + 20, latencyLine("at 30 %", result.relaxed.latencyMs)),
    "</svg>",
  ].join("\n")}\n`;
}

const latencyLine = (when: string, latency: Latency | null): string =>
  latency ? `Answer ${when}: p50 ${latency.p50}, p95 ${latency.p95}, p99 ${latency.p99} ms` : "";

const text = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y}" ${more}>${escaped(content)}</text>`;

const escaped = (content: string): string =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
