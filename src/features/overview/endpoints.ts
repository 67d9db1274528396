import Type from "typebox";
import { Finding } from "../../core/admin/attention/attention.ts";
import { named, nullable, OfWorkspace, succeeding, Text } from "../../core/base/values/schemas.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { type OverviewServices, readOverview } from "./read-overview.ts";

const counts = (description: string) =>
  Type.Array(Type.Integer({ minimum: 0 }), { description, examples: [[0, 12]] });

const latencies = (description: string) =>
  Type.Array(nullable(Type.Number()), { description, examples: [[null, 4.2]] });

const overview = endpoint({
  name: "getOverview",
  method: "GET",
  path: "/admin/v1/workspaces/:name/overview",
  summary: "Reads the traffic of a workspace over time, and what needs attention.",
  description:
    "Every list has a number for each slot, oldest first. All server processes count: the one that responds up to now, " +
    "others and those before a restart up to ten seconds ago. Findings about syncs need basic_access, those about keys dev_console.",
  access: byAdministratorOfWorkspace("view_usage_data"),
  params: OfWorkspace,
  query: Type.Object({
    period: Type.Optional(
      Type.Enum(["hour", "day"], {
        default: "hour",
        description: "The last hour in slots of 10 seconds, or the last day in slots of 5 minutes.",
      }),
    ),
  }),
  replies: succeeding({
    start: Text("When the first slot begins, in ISO 8601.", "2026-01-01T12:00:00.000Z"),
    slot_seconds: Type.Integer({ description: "How long a slot is.", examples: [10] }),
    requests: counts("Requests of API keys."),
    refused: counts("Of these, refused ones (4xx)."),
    failed: counts("Of these, failed ones (5xx)."),
    items_accepted: counts(
      "Items that took effect: attributes, events, users to merge, and so on.",
    ),
    items_rejected: counts("Those that were rejected or skipped."),
    p50_ms: latencies("The median of the response times; null without requests."),
    p99_ms: latencies("The response time that 99 % of the requests did not exceed."),
    queue_items: counts("The most items that waited in the write queue, of all workspaces."),
    rejections: Type.Array(
      named("RejectedItems", {
        code: Text("The code.", "INVALID_TIME"),
        counts: counts("How many items got it."),
      }),
      { description: "Rejected items by code." },
    ),
    syncs: Type.Union(
      [
        Type.Object({
          rows_synced: counts("Rows of the runs that started then."),
          rows_failed: counts("How many rows of these runs failed."),
        }),
        Type.Null(),
      ],
      { description: "Warehouse syncs; null without basic_access." },
    ),
    attention: Type.Array(Finding, { description: "What needs attention, the worst first." }),
  }),
}).handledBy(async (services: OverviewServices, context, { query: { period = "hour" } }) => {
  const {
    start,
    slotMs,
    counts: found,
    syncs,
    attention,
  } = await readOverview(services, context, period);
  return success({
    start: start.toISOString(),
    slot_seconds: slotMs / 1_000,
    requests: found.requests,
    refused: found.refused,
    failed: found.failed,
    items_accepted: found.accepted,
    items_rejected: found.rejected,
    p50_ms: found.p50,
    p99_ms: found.p99,
    queue_items: found.waiting,
    rejections: found.rejections,
    syncs: syncs ? { rows_synced: syncs.synced, rows_failed: syncs.failed } : null,
    attention,
  });
});

export const overviewEndpoints = [overview];
