import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { millisToHrTime } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type {
  MetricObjectWithValues,
  MetricValue,
  MetricValueWithName,
  Registry,
} from "prom-client";

/*
 * The metrics of `GET /metrics` under the same names, in the form of OpenTelemetry. They are converted when they are
 * sent, so nothing is counted twice.
 */

type PrometheusMetric = MetricObjectWithValues<MetricValue<string>>;

/** When a series began and when it was read. */
interface Period {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

export function metricProducer(
  registry: Registry,
  resource: Resource,
  version: string,
): MetricProducer {
  const startTime = millisToHrTime(Date.now());
  return {
    async collect() {
      const period = { startTime, endTime: millisToHrTime(Date.now()) };
      const known = (await registry.getMetricsAsJSON()) as PrometheusMetric[];
      const metrics = known.flatMap((metric) => convert(metric, period));
      const scopeMetrics = [{ scope: { name: "rapport", version }, metrics }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
}

function convert(metric: PrometheusMetric, period: Period): MetricData[] {
  const base = {
    descriptor: {
      name: metric.name,
      description: metric.help,
      unit: unitOf(metric.name),
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = () =>
    metric.values.map(({ labels, value }) => ({ ...period, attributes: { ...labels }, value }));
  // prom-client says the type as a word or, in its declarations, as a number.
  switch (String(metric.type)) {
    case "counter":
      return [
        { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() },
      ];
    case "gauge":
      return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() }];
    case "histogram": {
      const dataPoints = histogramsOf(metric, period);
      return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
    }
    default:
      return [];
  }
}

const unitOf = (name: string): string =>
  /_seconds(_total)?$/.test(name) ? "s" : /_bytes(_total)?$/.test(name) ? "By" : "";

interface Series {
  readonly attributes: Attributes;
  /** Upper bound and how many values are at most as large, in ascending order; the last bound is infinite. */
  readonly bounds: [bound: number, count: number][];
  sum: number;
  count: number;
}

/** Prometheus lists a histogram as one value for each bucket, the sum and the count, by labels. */
function histogramsOf(metric: PrometheusMetric, period: Period): DataPoint<Histogram>[] {
  const all = new Map<string, Series>();
  for (const { labels, value, metricName } of metric.values as MetricValueWithName<string>[]) {
    const { le, ...attributes } = labels as Record<string, string | number>;
    const key = JSON.stringify(attributes);
    const series = all.get(key) ?? { attributes, bounds: [], sum: 0, count: 0 };
    all.set(key, series);
    if (metricName?.endsWith("_sum")) series.sum = value;
    else if (metricName?.endsWith("_count")) series.count = value;
    else series.bounds.push([le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), value]);
  }
  return [...all.values()].map(({ attributes, bounds, sum, count }) => {
    const boundaries = bounds.map(([bound]) => bound).filter(Number.isFinite);
    const counts = bounds.map(([, upTo], index) => upTo - (bounds[index - 1]?.[1] ?? 0));
    return { ...period, attributes, value: { buckets: { boundaries, counts }, sum, count } };
  });
}
