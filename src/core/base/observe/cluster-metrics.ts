import cluster from "node:cluster";
import { AggregatorRegistry, type Registry } from "prom-client";

/*
 * Several server processes share one metrics port: the first process, which only watches, asks the
 * others for theirs and adds them up.
 */

export type MetricsSource = ReturnType<typeof clusterMetrics>;

/** Lets the first process ask this one, if this is one of several. */
export function shareMetrics(registry: Registry): void {
  if (!cluster.isWorker) return;
  new AggregatorRegistry();
  AggregatorRegistry.setRegistries(registry);
}

/** The metrics of all server processes together. */
export function clusterMetrics() {
  const aggregator = new AggregatorRegistry();
  return { contentType: aggregator.contentType, metrics: () => aggregator.clusterMetrics() };
}
