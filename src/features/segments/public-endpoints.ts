import Type from "typebox";
import { named, succeeding, Text } from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { endpoint, success, withPermission } from "../../core/http/endpoint.ts";
import { SizeSeriesQuery, sizeSeries } from "./daily-sizes.ts";
import { describeSegment, listSegments } from "./read-segments.ts";

const Tags = Type.Array(Type.String({ examples: ["loyalty"] }), {
  description: "Words to find the segment by.",
});

const list = endpoint({
  name: "listSegmentSummaries",
  method: "GET",
  path: "/segments/list",
  summary: "Lists the segments, 100 a page.",
  access: withPermission("segments.list"),
  query: Type.Object({
    page: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: "From 0." })),
    sort_direction: Type.Optional(
      Type.Enum(["asc", "desc"], { description: "asc, the default, has the oldest first." }),
    ),
  }),
  replies: succeeding({
    segments: Type.Array(
      named("ListedSegment", {
        id: Type.String(),
        name: Type.String(),
        analytics_tracking_enabled: Type.Boolean({
          description: "Whether its size is recorded day by day: always.",
        }),
        tags: Tags,
      }),
      { description: "The segments of the page." },
    ),
  }),
}).handledBy(async (services: StoringServices, context, { query }) => {
  const { page = 0, sort_direction: direction = "asc" } = query;
  const found = await listSegments(services, context, page, direction);
  const segments = found.map(({ id, name, tags }) => ({
    id,
    name,
    // One estimate a day is recorded of every segment.
    analytics_tracking_enabled: true,
    tags: [...tags],
  }));
  return success({ segments });
});

const details = endpoint({
  name: "getSegmentDetails",
  method: "GET",
  path: "/segments/details",
  summary: "Reads a segment, with its filter as a sentence.",
  access: withPermission("segments.details"),
  query: Type.Object({ segment_id: Type.String({ maxLength: 64 }) }),
  replies: succeeding({
    created_at: Type.String(),
    updated_at: Type.String(),
    name: Type.String(),
    description: Text("The filter as a sentence.", "Users who match: can receive email."),
    text_description: Text("A name in the words of its author.", "Everyone we can mail."),
    tags: Tags,
    teams: Type.Array(Type.String({ examples: ["Marketing"] }), {
      description: "Always empty: nothing in a workspace belongs to a team.",
    }),
  }),
  refusals: ["NOT_FOUND"],
}).handledBy(async (services: StoringServices, context, { query }) => {
  const segment = await describeSegment(services, context, query.segment_id);
  return success({
    created_at: segment.createdAt.toISOString(),
    updated_at: segment.updatedAt.toISOString(),
    name: segment.name,
    description: segment.sentence,
    text_description: segment.description,
    tags: [...segment.tags],
    teams: [],
  });
});

const series = endpoint({
  name: "getSegmentSizes",
  method: "GET",
  path: "/segments/data_series",
  summary: "Reads the estimated size of a segment day by day.",
  access: withPermission("segments.data_series"),
  query: SizeSeriesQuery,
  replies: succeeding({
    data: Type.Array(
      named("SegmentSize", {
        time: Text("The day, in UTC.", "2026-01-31"),
        size: Type.Integer({ description: "The estimated number of users." }),
      }),
      { description: "One entry a day; days without an estimate are left out." },
    ),
  }),
  refusals: ["NOT_FOUND"],
}).handledBy(async (services: StoringServices, context, { query }) => {
  const data = await sizeSeries(services, context, query);
  return success({ data });
});

export const publicSegmentEndpoints = [list, details, series];
