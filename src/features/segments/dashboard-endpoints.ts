import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import {
  IntegerOrNull,
  named,
  nullable,
  OfWorkspace,
  succeeding,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import type { CountingServices } from "./count-users.ts";
import { sizesOfSegments } from "./daily-sizes.ts";
import type { SegmentSize } from "./estimate.ts";
import { segmentsOfUser } from "./list-members.ts";
import { sampleAttribute, sampleEvent } from "./sampled-values.ts";
import { FEW_USERS, Size } from "./size-view.ts";

/* Endpoints for the dashboard, in addition to the resource and the counts of segments. */

const WORKSPACE = "/admin/v1/workspaces/:name";

const SegmentId = Text("The id of the segment.", "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11");

const sizes = endpoint({
  name: "listSegmentSizes",
  method: "GET",
  path: `${WORKSPACE}/segment-sizes`,
  summary:
    "Reads the recorded sizes of all segments in the last 30 days, and their last exact counts.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  replies: succeeding({
    segments: Type.Array(
      named("SegmentSizes", {
        id: SegmentId,
        sizes: Type.Array(
          Type.Object({
            time: Text("The day, in UTC.", "2026-01-31"),
            size: IntegerOrNull(`The estimated number of users. ${FEW_USERS}`, 120),
          }),
          { description: "One entry a day, the oldest first; days without one are left out." },
        ),
        counted: nullable(
          Type.Object({
            matching: IntegerOrNull(`Users who met the filter. ${FEW_USERS}`, 120),
            total: Type.Integer({ description: "All users of the workspace then." }),
            at: Text("When the count ended.", "2026-01-31T12:00:00.000Z"),
          }),
          {
            description: "The last exact count; null if there was none since the filter changed.",
          },
        ),
        fault: TextOrNull("Why the segment cannot be counted; null if it can.", null),
      }),
      { description: "Segments whose size is known, and those that cannot be counted." },
    ),
  }),
}).handledBy(async (services: StoringServices, context) => {
  const segments = await sizesOfSegments(services, context);
  return success({ segments });
});

const userCount = endpoint({
  name: "getUserCount",
  method: "GET",
  path: `${WORKSPACE}/user-count`,
  summary: "Counts the users of a workspace.",
  description:
    "Up to 1,000,000 users are counted, more are estimated from a sample of 5,000. A number is kept for a second, or for 50 times as " +
    "long as counting took.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  replies: succeeding({
    users: Type.Integer({ description: "How many users there are.", examples: [1_250] }),
    exact: Type.Boolean({ description: "Whether they were counted; false for an estimate." }),
    counted_at: Text("When they were counted, in ISO 8601.", "2026-01-01T12:00:00.000Z"),
  }),
}).handledBy(async ({ userTotals }: CountingServices, { workspace }) => {
  const { users, isExact, countedAt } = await userTotals.read(workspace.id);
  const counted_at = countedAt.toISOString();
  return success({ users, exact: isExact, counted_at });
});

const ofUser = endpoint({
  name: "listSegmentsOfUser",
  method: "GET",
  path: `${WORKSPACE}/users/:id/segments`,
  summary: "Lists the segments that a user is in.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: Type.Object({ name: Type.String(), id: Type.String({ format: "uuid" }) }),
  replies: succeeding({
    segments: Type.Array(
      named("SegmentOfUser", {
        id: SegmentId,
        name: Text("Its name.", "Repeat buyers"),
        description: Text("The filter as a sentence.", "Users who match: can receive email."),
      }),
      { description: "The oldest first." },
    ),
    skipped: Type.Array(
      named("SkippedSegment", {
        id: SegmentId,
        name: Text("Its name.", "Repeat buyers"),
        reason: Text(
          "What is wrong with its filter.",
          "'filter.all[0]' has more than 5 comparators.",
        ),
      }),
      {
        description:
          "Segments of which nothing can be said, because their filters cannot be counted.",
      },
    ),
  }),
  refusals: ["NOT_FOUND"],
}).handledBy(async (services: StoringServices & AuditingServices, context, { params }) => {
  const found = await segmentsOfUser(services, context, params.id.toLowerCase());
  await recordRead(services, context, "segments_of_user", 1);
  return success({ ...found });
});

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  description: "A text, number or boolean of at most 100 characters.",
  examples: ["pro"],
});

const LookedAt = Type.Integer({
  description: "How many users were looked at: all, or a sample of 1,000.",
});

/** Users, estimated from the sample unless all were looked at. */
const Users = (description: string) =>
  Type.Object(
    {
      matching: Type.Integer({ description: "The number of users, or the estimate." }),
      low: Size.low,
      high: Size.high,
    },
    { description },
  );

const viewOf = ({ matching, low, high }: SegmentSize) => ({ matching, low, high });

const values = endpoint({
  name: "listAttributeValues",
  method: "GET",
  path: `${WORKSPACE}/attribute-values`,
  summary: "Reads how many users have an attribute, and its most frequent values.",
  description: "Up to about 5,000 users are all looked at, of more a sample of 1,000.",
  access: byAdministratorOfWorkspace("view_pii", "edit_segments"),
  params: OfWorkspace,
  query: Type.Object({
    kind: Type.Enum(["attribute", "custom_attribute"], { description: "Which kind." }),
    attribute: Type.String({ minLength: 1, maxLength: 255, description: "Its name." }),
  }),
  replies: succeeding({
    total: Size.total,
    looked_at: LookedAt,
    users: Users("Users who have the attribute."),
    values: Type.Array(
      named("AttributeValue", { value: Scalar, users: Users("Users who have it.") }),
      {
        description: "At most 20, the most frequent first; of a list, its first 50 elements count.",
      },
    ),
  }),
}).handledBy(
  async (services: StoringServices & CountingServices & AuditingServices, context, { query }) => {
    const found = await sampleAttribute(services, context, query.kind, query.attribute);
    await recordRead(services, context, "attribute_values", found.lookedAt);
    return success({
      total: found.users.total,
      looked_at: found.lookedAt,
      users: viewOf(found.users),
      values: found.values.map(({ value, users }) => ({ value, users: viewOf(users) })),
    });
  },
);

const properties = endpoint({
  name: "listEventProperties",
  method: "GET",
  path: `${WORKSPACE}/event-properties`,
  summary:
    "Reads how many users did an event, and the types and most frequent values of its properties.",
  description:
    "Up to about 5,000 users are all looked at, of more a sample of 1,000. Of each the last occurrence counts, up to 1,000 of at " +
    "most 16 KB.",
  access: byAdministratorOfWorkspace("view_pii", "edit_segments"),
  params: OfWorkspace,
  query: Type.Object({
    event: Type.String({ minLength: 1, maxLength: 255, description: "Its name." }),
  }),
  replies: succeeding({
    total: Size.total,
    looked_at: LookedAt,
    users: Users("Users who did it at least once."),
    occurrences: Type.Integer({ description: "How many occurrences were looked at." }),
    properties: Type.Array(
      named("EventProperty", {
        name: Type.String({ examples: ["plan"] }),
        seen: Type.Integer({ description: "Occurrences that have it." }),
        types: Type.Array(
          Type.Object({
            type: Type.Enum(["string", "number", "boolean", "time", "array", "object", "null"], {
              description: "A type of values.",
            }),
            seen: Type.Integer({ description: "Occurrences with a value of it." }),
          }),
          { description: "The most frequent first." },
        ),
        values: Type.Array(
          Type.Object({
            value: Scalar,
            seen: Type.Integer({ description: "Occurrences that have it." }),
          }),
          { description: "At most 5, the most frequent first." },
        ),
      }),
      { description: "At most 100, the most frequent first." },
    ),
  }),
}).handledBy(
  async (services: StoringServices & CountingServices & AuditingServices, context, { query }) => {
    const found = await sampleEvent(services, context, query.event);
    await recordRead(services, context, "event_properties", found.occurrences);
    return success({
      total: found.users.total,
      looked_at: found.lookedAt,
      users: viewOf(found.users),
      occurrences: found.occurrences,
      properties: found.properties,
    });
  },
);

export const segmentDashboardEndpoints = [sizes, userCount, ofUser, values, properties];
