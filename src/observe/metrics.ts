import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** What the server counts about itself. Labels never hold anything of a person. */
export interface Metrics {
  /** In Prometheus' text format. */
  readonly registry: Registry;
  /** One answered request: the route as declared, the status, how long it took in seconds. */
  request(labels: { method: string; route: string; status: number }, seconds: number): void;
  /** One transaction of the write queue: how many items it wrote, in how many seconds. */
  batch(items: number, seconds: number): void;
  /** How many requests are in flight. */
  inFlight(requests: number): void;
  /** One request that was refused because the server has too much to do, and why. */
  shed(why: string): void;
  /** Units of work that a request's handler counted against its budget. */
  work(route: string, units: number): void;
  /** One request without a valid key or token: which kind it needed. */
  failedAuthentication(kind: string): void;
  /** How many items wait for the next transaction. */
  waiting(items: number): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: "rapport_http_request_duration_seconds",
    help: "Answered requests by route and status.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const batches = new Histogram({
    name: "rapport_write_batch_duration_seconds",
    help: "Transactions of the write queue.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  });
  const items = new Counter({
    name: "rapport_written_items_total",
    help: "Attributes, events and purchases committed by the write queue.",
    registers,
  });
  const waiting = new Gauge({
    name: "rapport_write_queue_items",
    help: "Items that wait for the next transaction of the write queue.",
    registers,
  });
  const inFlight = new Gauge({
    name: "rapport_http_requests_in_flight",
    help: "Requests that are being read, worked on or answered.",
    registers,
  });
  const shed = new Counter({
    name: "rapport_http_requests_shed_total",
    help: "Requests refused because the server had too much to do.",
    labelNames: ["why"],
    registers,
  });
  const work = new Counter({
    name: "rapport_http_work_units_total",
    help: "Units of work that handlers counted against the budgets of their requests.",
    labelNames: ["route"],
    registers,
  });
  const failedAuthentications = new Counter({
    name: "rapport_failed_authentications_total",
    help: "Requests without a valid secret, by the kind it needed: key, scim or administrator.",
    labelNames: ["kind"],
    registers,
  });
  return {
    registry,
    request: ({ method, route, status }, seconds) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    batch(count, seconds) {
      batches.observe(seconds);
      items.inc(count);
    },
    inFlight: (count) => inFlight.set(count),
    shed: (why) => shed.inc({ why }),
    work: (route, units) => work.inc({ route }, units),
    failedAuthentication: (kind) => failedAuthentications.inc({ kind }),
    waiting: (count) => waiting.set(count),
  };
}
