/* The responses, and whether they are correct. */

export interface Tally {
  wellMeant(kind: string, status: number, milliseconds: number): void;
  hostile(kind: string, statuses: readonly number[]): void;
  /** The server's memory, in MB. */
  memory(megabytes: number): void;
  hasPassed(): boolean;
  report(): string;
}

/** How much more memory the last third may use than the middle one before that counts as growth. */
const STEADY = 1.15;

interface Kind {
  readonly statuses: Map<number, number>;
  readonly milliseconds: number[];
}

export function createTally(): Tally {
  const kinds = new Map<string, Kind>();
  const memory: number[] = [];
  let requests = 0;
  let hostileCases = 0;
  let faults = 0;
  const startedAt = performance.now();

  function kindOf(name: string): Kind {
    const kind = kinds.get(name) ?? { statuses: new Map(), milliseconds: [] };
    kinds.set(name, kind);
    return kind;
  }

  function count(name: string, status: number): Kind {
    const kind = kindOf(name);
    kind.statuses.set(status, (kind.statuses.get(status) ?? 0) + 1);
    if (status >= 500) faults++;
    return kind;
  }

  function growth(): number {
    const third = Math.floor(memory.length / 3);
    if (third === 0) return 1;
    return median(memory.slice(-third)) / median(memory.slice(third, 2 * third));
  }

  return {
    wellMeant(name, status, milliseconds) {
      requests++;
      if (status < 200 || status >= 300) faults++;
      const { milliseconds: all } = count(name, status);
      // Every request counts, but not every one need be remembered.
      if (all.length < 200_000) all.push(milliseconds);
    },
    hostile(name, statuses) {
      hostileCases++;
      for (const status of statuses) count(`hostile: ${name}`, status);
      if (statuses.length === 0) kindOf(`hostile: ${name}`);
    },
    memory: (megabytes) => void memory.push(megabytes),
    hasPassed: () => faults === 0 && growth() <= STEADY,
    report() {
      const seconds = (performance.now() - startedAt) / 1_000;
      const lines = [...kinds]
        .sort(([one], [other]) => one.localeCompare(other))
        .map(
          ([name, kind]) => `${name.padEnd(38)} ${statusesOf(kind).padEnd(34)} ${speedOf(kind)}`,
        );
      return [
        ...lines,
        "",
        `${requests} regular requests and ${hostileCases} hostile cases in ${Math.round(seconds)} s` +
          ` (${Math.round(requests / seconds)} requests/s)`,
        `memory in MB: ${spread(memory)}; last third / middle third ${growth().toFixed(2)}`,
        `5xx, or regular and not accepted: ${faults}`,
        "",
      ].join("\n");
    },
  };
}

const statusesOf = ({ statuses }: Kind): string =>
  [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, times]) => `${status || "broken"} ×${times}`)
    .join("  ") || "no answer";

function speedOf({ milliseconds }: Kind): string {
  if (milliseconds.length === 0) return "";
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const at = (part: number) => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  p99 ${at(0.99)} ms  longest ${at(1)} ms`;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** Ten points of a curve. */
function spread(values: readonly number[]): string {
  const step = Math.max(1, Math.ceil(values.length / 10));
  return values.filter((_, index) => index % step === 0).join(" ");
}
