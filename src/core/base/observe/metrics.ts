import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type Clock, systemClock } from "../clock.ts";
import { createTraffic } from "./traffic.ts";

/** The server's own counters (docs/operations/metrics.md). Labels never contain a user's data. */
export type Metrics = ReturnType<typeof createMetrics>;

export interface WebhookBehind {
  readonly workspace: string;
  readonly webhook: string;
  readonly seconds: number;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of metrics, one after the other.
export function createMetrics(clock: Clock = systemClock) {
  const registry = new Registry();
  const traffic = createTraffic(() => clock.now().getTime());
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `rapport_${name}`, help, labelNames, registers });
  /** A number that changes with every request: set when metrics are read. */
  const latest = (name: string, help: string): { value: number } => {
    const current = { value: 0 };
    new Gauge({
      name: `rapport_${name}`,
      help,
      registers,
      collect() {
        this.set(current.value);
      },
    });
    return current;
  };
  const histogram = <Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ) => new Histogram({ name: `rapport_${name}`, help, labelNames, buckets, registers });

  const requests = histogram(
    "http_request_duration_seconds",
    "Answered requests by route and status.",
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    "method",
    "route",
    "status",
  );
  const inFlight = latest(
    "http_requests_in_flight",
    "Requests being received, processed or answered.",
  );
  // Of several processes the one that has lost it counts.
  const databaseUp = new Gauge({
    name: "rapport_database_up",
    help: "1 while the database can be used, 0 while a process cannot reach it, log in or open it.",
    registers,
    aggregator: "min",
  });
  databaseUp.set(1);
  // Every process sees the same transactions.
  const lockHolder = new Gauge({
    name: "rapport_lock_holder_seconds",
    help: "For how long the oldest transaction that others wait for has held locks, otherwise 0.",
    registers,
    aggregator: "max",
  });
  const shed = counter(
    "http_requests_shed_total",
    "Requests refused because the server was overloaded.",
    "why",
  );
  const work = counter("http_work_units_total", "Work units charged to request budgets.", "route");
  const failedAuthentications = counter(
    "failed_authentications_total",
    "Requests without a valid secret, by the kind it needed: key, scim or administrator.",
    "kind",
  );
  const items = counter(
    "track_items_total",
    "Objects of track requests by outcome: applied, skipped or refused.",
    "outcome",
  );
  const rejections = counter(
    "track_rejections_total",
    "Objects of track requests that were skipped or refused, by code (docs/errors.md).",
    "code",
  );
  const batches = histogram(
    "write_batch_duration_seconds",
    "Transactions of the write queue.",
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  );
  const batchItems = histogram(
    "write_batch_items",
    "Items in a transaction of the write queue.",
    [1, 5, 10, 50, 100, 500, 1_000, 2_000],
  );
  const written = counter(
    "written_items_total",
    "Attributes, events and purchases committed by the write queue.",
  );
  const waiting = latest(
    "write_queue_items",
    "Items waiting for the next transaction of the write queue.",
  );
  const statements = histogram(
    "database_statement_duration_seconds",
    "Statements by use (intake, lookup, analysis), including the wait for a connection.",
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 15],
    "use",
  );
  const transactions = counter(
    "database_transactions_total",
    "Transactions by use and end: committed, aborted (retried), locked (met a lock) or failed.",
    "use",
    "end",
  );
  const jobs = counter(
    "jobs_total",
    "Runs of jobs by kind and outcome: done or failed.",
    "kind",
    "outcome",
  );
  const expiredChanges = counter(
    "changes_expired_total",
    "Changes deleted from change feeds by reason: age or size.",
    "why",
  );
  const webhookAttempts = counter(
    "webhook_deliveries_total",
    "Attempts of webhooks by outcome: delivered, failed, refused, gone or missed.",
    "outcome",
  );
  const webhookChanges = counter(
    "webhook_changes_total",
    "Changes that receivers of webhooks accepted.",
  );
  // Every process reports all webhooks.
  const webhooksPaused = new Gauge({
    name: "rapport_webhooks_paused",
    help: "Webhooks that were paused automatically.",
    registers,
    aggregator: "max",
  });
  const webhookLag = new Gauge({
    name: "rapport_webhook_lag_seconds",
    help: "How old the oldest change is that a webhook has yet to deliver.",
    labelNames: ["workspace", "webhook"],
    registers,
    aggregator: "max",
  });
  const syncRuns = counter(
    "sync_runs_total",
    "Finished runs of warehouse syncs by status.",
    "status",
  );
  const syncRows = counter(
    "sync_rows_total",
    "Rows of warehouse syncs by outcome: synced or failed.",
    "outcome",
  );
  // Any process may have run the last one.
  const syncEnded = new Gauge({
    name: "rapport_sync_last_success_timestamp_seconds",
    help: "When the last successful run of an integration ended, in seconds since 1970.",
    labelNames: ["integration"],
    registers,
    aggregator: "max",
  });
  return {
    /** In Prometheus' text format. */
    registry,
    /** The same by workspace and time, for the overview of the dashboard. */
    traffic,
    /** One answered request: the route as declared, the status, how long it took in seconds. */
    request: (
      { method, route, status }: { method: string; route: string; status: number },
      seconds: number,
    ) => requests.observe({ method, route, status: String(status) }, seconds),
    /** Objects of track requests with the same verdict: applied, skipped or refused. */
    items: (outcome: string, count: number) => items.inc({ outcome }, count),
    /** One object of a track request that was skipped or refused, with its code. */
    rejection: (code: string) => rejections.inc({ code }),
    /** One transaction of the write queue: how many items it wrote, in how many seconds. */
    batch(count: number, seconds: number) {
      batches.observe(seconds);
      batchItems.observe(count);
      written.inc(count);
    },
    /** How many items wait for the next transaction. */
    waiting(count: number) {
      waiting.value = count;
      traffic.waiting(count);
    },
    /** One statement: its purpose, and how many seconds it took, including the wait for its turn. */
    statement: (use: string, seconds: number) => statements.observe({ use }, seconds),
    /**
     * One transaction: its purpose, and whether it was committed, aborted (and retried), met a lock, or failed.
     */
    transaction: (use: string, end: string) => transactions.inc({ use, end }),
    databaseUp: (isUp: boolean) => databaseUp.set(isUp ? 1 : 0),
    /** How long the oldest transaction that others wait for has held locks, in seconds. */
    lockHolder: (seconds: number) => lockHolder.set(seconds),
    /** How many requests are in flight. */
    inFlight(count: number) {
      inFlight.value = count;
    },
    /** One request that was refused because the server has too much to do, and why. */
    shed: (why: string) => shed.inc({ why }),
    /** Units of work that a request's handler counted against its budget. */
    work: (route: string, units: number) => work.inc({ route }, units),
    /** One request without a valid key or token: which kind it needed. */
    failedAuthentication: (kind: string) => failedAuthentications.inc({ kind }),
    /** One run of a job: its kind, and whether it was done or failed. */
    job: (kind: string, outcome: string) => jobs.inc({ kind, outcome }),
    /** Changes that were deleted from a change feed because of their age, or because it takes too much space. */
    expiredChanges: (why: "age" | "size", count: number) => expiredChanges.inc({ why }, count),
    /**
     * One attempt of a webhook, or changes that it has missed: the outcome, and how many changes it
     * had.
     */
    webhook(outcome: string, changes: number) {
      webhookAttempts.inc({ outcome });
      if (outcome === "delivered") webhookChanges.inc(changes);
    },
    /** How many webhooks were paused automatically, and how far the others are behind, in seconds. */
    webhooks(paused: number, behind: readonly WebhookBehind[]) {
      webhooksPaused.set(paused);
      webhookLag.reset();
      for (const { seconds, ...labels } of behind) webhookLag.set(labels, seconds);
    },
    /** One run of a warehouse sync that ended, with its status, its rows, and the time of its end. */
    sync({
      integration,
      status,
      synced,
      failed,
      at,
    }: {
      integration: string;
      status: string;
      synced: number;
      failed: number;
      at: Date;
    }) {
      syncRuns.inc({ status });
      syncRows.inc({ outcome: "synced" }, synced);
      syncRows.inc({ outcome: "failed" }, failed);
      if (status === "success") syncEnded.set({ integration }, at.getTime() / 1_000);
    },
  };
}
