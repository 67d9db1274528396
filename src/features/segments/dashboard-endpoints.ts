import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import { named, nullable, OfWorkspace, Success } from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import type { CountingServices } from "./count-users.ts";
import { sizesOfSegments } from "./daily-sizes.ts";
import { segmentsOfUser } from "./list-members.ts";
import { FEW_USERS } from "./size-view.ts";
import { suggestValues } from "./suggest-values.ts";

/* Endpoints for the dashboard, in addition to the resource and the counts of segments. */

const WORKSPACE = "/admin/v1/workspaces/:name";

const SegmentId = Type.String({
  description: "The id of the segment.",
  examples: ["3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11"],
});

const sizes = endpoint({
  name: "listSegmentSizes",
  method: "GET",
  path: `${WORKSPACE}/segment-sizes`,
  summary:
    "Reads the recorded sizes of all segments in the last 30 days, and their last exact counts.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  replies: {
    200: Type.Object({
      segments: Type.Array(
        named("SegmentSizes", {
          id: SegmentId,
          sizes: Type.Array(
            Type.Object({
              time: Type.String({ description: "The day, in UTC.", examples: ["2026-01-31"] }),
              size: nullable(Type.Integer(), {
                description: `The estimated number of users. ${FEW_USERS}`,
                examples: [120],
              }),
            }),
            { description: "One entry a day, the oldest first; days without one are left out." },
          ),
          counted: nullable(
            Type.Object({
              matching: nullable(Type.Integer(), {
                description: `Users who met the filter. ${FEW_USERS}`,
                examples: [120],
              }),
              total: Type.Integer({ description: "All users of the workspace then." }),
              at: Type.String({
                description: "When the count ended.",
                examples: ["2026-01-31T12:00:00.000Z"],
              }),
            }),
            {
              description: "The last exact count; null if there was none since the filter changed.",
            },
          ),
          fault: nullable(Type.String(), {
            description: "Why the segment cannot be counted; null if it can.",
            examples: [null],
          }),
        }),
        { description: "Segments whose size is known, and those that cannot be counted." },
      ),
      message: Success,
    }),
  },
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
  replies: {
    200: Type.Object({
      users: Type.Integer({ description: "How many users there are.", examples: [1_250] }),
      exact: Type.Boolean({ description: "Whether they were counted; false for an estimate." }),
      counted_at: Type.String({
        description: "When they were counted, in ISO 8601.",
        examples: ["2026-01-01T12:00:00.000Z"],
      }),
      message: Success,
    }),
  },
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
  replies: {
    200: Type.Object({
      segments: Type.Array(
        named("SegmentOfUser", {
          id: SegmentId,
          name: Type.String({ description: "Its name.", examples: ["Repeat buyers"] }),
          description: Type.String({
            description: "The filter as a sentence.",
            examples: ["Users who match: can receive email."],
          }),
        }),
        { description: "The oldest first." },
      ),
      skipped: Type.Array(
        named("SkippedSegment", {
          id: SegmentId,
          name: Type.String({ description: "Its name.", examples: ["Repeat buyers"] }),
          reason: Type.String({
            description: "What is wrong with its filter.",
            examples: ["'filter.all[0]' has more than 5 comparators."],
          }),
        }),
        {
          description:
            "Segments of which nothing can be said, because their filters cannot be counted.",
        },
      ),
      message: Success,
    }),
  },
  refusals: ["NOT_FOUND"],
}).handledBy(async (services: StoringServices & AuditingServices, context, { params }) => {
  const found = await segmentsOfUser(services, context, params.id.toLowerCase());
  await recordRead(services, context, "segments_of_user", 1);
  return success({ ...found });
});

const values = endpoint({
  name: "suggestAttributeValues",
  method: "GET",
  path: `${WORKSPACE}/attribute-values`,
  summary: "Lists frequent values of an attribute among a sample of 1,000 users.",
  access: byAdministratorOfWorkspace("view_pii", "edit_segments"),
  params: OfWorkspace,
  query: Type.Object({
    kind: Type.Enum(["attribute", "custom_attribute"], { description: "Which kind." }),
    attribute: Type.String({ minLength: 1, maxLength: 255, description: "Its name." }),
  }),
  replies: {
    200: Type.Object({
      values: Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
        description: "At most 20 texts, numbers or booleans, the most frequent first.",
        examples: [["pro", "free"]],
      }),
      message: Success,
    }),
  },
}).handledBy(async (services: StoringServices & AuditingServices, context, { query }) => {
  const found = await suggestValues(services, context, query.kind, query.attribute);
  await recordRead(services, context, "attribute_values", found.length);
  return success({ values: found });
});

export const segmentDashboardEndpoints = [sizes, userCount, ofUser, values];
