import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import {
  IntegerOrNull,
  named,
  nullable,
  OfWorkspace,
  Success,
  succeeding,
  successOf,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { breakDown, keptSince } from "./breakdown.ts";
import {
  countExactly,
  type InlineServices,
  listCounts,
  MOST_WAIT_SECONDS,
  readCount,
  stopCount,
} from "./count-exactly.ts";
import type { CountingServices } from "./count-users.ts";
import { estimateSize, exactSize } from "./estimate.ts";
import { sentenceOf } from "./filter.ts";
import { explain, listMembers } from "./list-members.ts";
import { FilterSchema } from "./resource.ts";
import { filterOf } from "./scope.ts";
import { shownTo } from "./shown-sizes.ts";
import { BreakdownFields, FEW_USERS, Size, viewOfBreakdown } from "./size-view.ts";
import type { ExactCount } from "./store.ts";

const SENTENCE = "Users who match: did signed_up at least 1 time in the last 30 days.";

const PATH = "/admin/v1/workspaces/:name/segments";

const Wanted = {
  filter: Type.Optional(FilterSchema),
  segment_id: Type.Optional(
    Text(
      "Instead of a filter: a segment of the workspace.",
      "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
      { maxLength: 64 },
    ),
  ),
};

const TIME = "2026-01-31T12:00:00.000Z";

const CountId = Text("The id of an exact count.", "0199f0a0-7c11-7000-8000-00c0ffee0001", {
  format: "uuid",
});

const Count = named("SegmentCount", {
  count_id: CountId,
  status: Type.Enum(["running", "finished", "cancelled", "failed"], {
    description: "The state of the count.",
  }),
  failure: TextOrNull(
    "Why it failed; null if it did not.",
    "'filter.all[0]' has 12 comparators: at most 5 are possible.",
  ),
  counted: Type.Integer({ description: "Users counted so far." }),
  expected: Type.Integer({ description: "About how many users there are to count." }),
  matching: IntegerOrNull(`Those of them who meet the filter. ${FEW_USERS}`, 120),
  started_at: Text("When the count began.", TIME),
  finished_at: TextOrNull("When it ended; null while it runs.", TIME),
});

const countView = (count: ExactCount, context: WorkspaceContext) => ({
  count_id: count.id,
  status: count.status,
  failure: count.failure,
  counted: shownTo(context).total(count.total),
  expected: shownTo(context).total(count.expected),
  matching: shownTo(context).size(exactSize(count.total, count.matching)).matching,
  started_at: count.startedAt.toISOString(),
  finished_at: count.finishedAt?.toISOString() ?? null,
});

const count = endpoint({
  name: "countSegment",
  method: "POST",
  path: `${PATH}/count`,
  summary: "Estimates how many users meet a filter, or counts them.",
  description:
    "An estimate looks at a sample of 5,000 users. `exact: true` counts all users; if that takes longer than a few seconds, " +
    "the response is 202 with a count to ask for again.",
  examples: { "A filter": { filter: { event: "signed_up", at_least: 1, in_last_days: 30 } } },
  access: byAdministratorOfWorkspace("edit_segments"),
  params: OfWorkspace,
  body: Type.Object({
    ...Wanted,
    exact: Type.Optional(Type.Boolean({ description: "Counts all users. Default: false." })),
    wait_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MOST_WAIT_SECONDS,
        description:
          "With `exact`: how many seconds the request counts before a job continues. Default: 5.",
      }),
    ),
    parts: Type.Optional(
      Type.Boolean({ description: "Estimates each part of the filter too. Default: false." }),
    ),
    reach: Type.Optional(
      Type.Boolean({
        description: "Estimates who can be reached on each channel. Default: false.",
      }),
    ),
  }),
  replies: {
    200: Type.Object({
      ...Size,
      ...BreakdownFields,
      description: Text("The filter as a sentence.", SENTENCE),
      message: Success,
    }),
    202: successOf(Count),
  },
  idempotency: "ignored",
  takesLong: true,
  lasts: true,
}).handledBy(async (services: InlineServices & CountingServices, context, { body, signal }) => {
  const { database, clock, userTotals } = services;
  const read = await filterOf(database, context, body);
  const { filter } = read;
  const { id } = context.workspace;
  const estimate = () =>
    estimateSize(database, id, filter, clock.now(), userTotals.readForEstimate(id));
  const outcome = body.exact
    ? await countExactly(services, context, body, body.wait_s ?? MOST_WAIT_SECONDS, signal)
    : { size: await estimate() };
  if ("count" in outcome) {
    return { status: 202, body: { ...countView(outcome.count, context), message: "success" } };
  }
  const { parts = false, reach = false } = body;
  const breakdown = await breakDown(services, context, read, { parts, reach });
  const since = keptSince(services, context, filter);
  const shown = shownTo(context);
  return success({
    ...shown.size(outcome.size),
    ...viewOfBreakdown(breakdown, shown),
    ...(Object.keys(since).length > 0 && { counts_since: since }),
    description: sentenceOf(filter),
  });
});

const listCountsEndpoint = endpoint({
  name: "listSegmentCounts",
  method: "GET",
  path: `${PATH}/counts`,
  summary: "Lists the exact counts that are running or waiting, and those of the last 30 days.",
  access: byAdministratorOfWorkspace("edit_segments"),
  params: OfWorkspace,
  query: Type.Object({
    segment_id: Type.Optional(
      Type.String({ format: "uuid", description: "Only counts of this segment." }),
    ),
  }),
  replies: succeeding({
    counts: Type.Array(
      named("ListedSegmentCount", {
        ...Count.properties,
        segment_id: TextOrNull(
          "The segment that was counted; null for an inline filter.",
          "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
        ),
        description: TextOrNull(
          "The filter as a sentence; null if something it names no longer exists, if it tells who users are and the caller " +
            "lacks view_pii, or if the filters of newer counts have 4 MB.",
          SENTENCE,
        ),
        before: IntegerOrNull("How many counts run before this one; null if it has ended.", 0),
      }),
      { description: "The newest first, at most 100." },
    ),
  }),
}).handledBy(async (services: StoringServices, context, { query }) => {
  const found = await listCounts(services, context, query.segment_id);
  const counts = found.map((each) => ({
    ...countView(each, context),
    segment_id: each.segmentId,
    description: each.description,
    before: each.before,
  }));
  return success({ counts });
});

const OfCount = Type.Object({ name: Type.String(), count_id: CountId });

const readCountEndpoint = endpoint({
  name: "getSegmentCount",
  method: "GET",
  path: `${PATH}/counts/:count_id`,
  summary: "Reads how far an exact count has come.",
  access: byAdministratorOfWorkspace("edit_segments"),
  params: OfCount,
  replies: { 200: successOf(Count) },
}).handledBy(async (services: StoringServices, context, { params }) => {
  const found = await readCount(services, context, params.count_id);
  return success(countView(found, context));
});

const stopCountEndpoint = endpoint({
  name: "cancelSegmentCount",
  method: "DELETE",
  path: `${PATH}/counts/:count_id`,
  summary: "Cancels an exact count that runs.",
  access: byAdministratorOfWorkspace("edit_segments"),
  params: OfCount,
  replies: { 200: successOf(Count) },
}).handledBy(async (services: StoringServices, context, { params }) => {
  const found = await stopCount(services, context, params.count_id);
  return success(countView(found, context));
});

const MOST_USERS = 1_000;

const users = endpoint({
  name: "listSegmentUsers",
  method: "POST",
  path: `${PATH}/users`,
  summary: "Reads the users who meet a filter, page by page.",
  examples: { "A filter": { filter: { event: "signed_up" }, limit: 100 } },
  access: byAdministratorOfWorkspace("export_user_data"),
  params: OfWorkspace,
  body: Type.Object({
    ...Wanted,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_USERS, description: "Default: 100." }),
    ),
    cursor: Type.Optional(
      nullable(Type.String({ maxLength: 64 }), {
        description: "That of the page before.",
        examples: ["3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11"],
      }),
    ),
  }),
  replies: succeeding({
    users: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: "In the form of an export. May be fewer than the limit although a page follows.",
    }),
    cursor: TextOrNull(
      "For the next page; null after the last user.",
      "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
    ),
  }),
  idempotency: "ignored",
  takesLong: true,
  lasts: true,
  isHeavy: true,
  budgets: { bytesOut: 64 * 1_048_576 },
}).handledBy(async (services: StoringServices & AuditingServices, context, { body }) => {
  const { limit = 100, cursor, ...wanted } = body;
  const page = await listMembers(services, context, {
    ...wanted,
    limit,
    cursor: cursor ?? undefined,
  });
  await recordRead(services, context, "segment_users", page.users.length);
  return success({ users: [...page.users], cursor: page.cursor });
});

const explainEndpoint = endpoint({
  name: "explainSegmentMembership",
  method: "POST",
  path: `${PATH}/explain`,
  summary: "Says whether a user meets a filter, condition by condition.",
  examples: {
    "A filter": { filter: { event: "signed_up" }, user_id: "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11" },
  },
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  body: Type.Object({
    ...Wanted,
    user_id: Text("The platform_id of the user.", "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11", {
      format: "uuid",
    }),
  }),
  replies: succeeding({
    is_member: Type.Boolean({ description: "Whether the user meets the filter." }),
    conditions: Type.Array(
      named("ConditionVerdict", {
        condition: Text("One condition of the filter, in words.", "can receive email"),
        holds: Type.Boolean({ description: "Whether the user meets it." }),
      }),
      { description: "Every condition of the filter, including those of its segments." },
    ),
  }),
  idempotency: "ignored",
}).handledBy(async (services: StoringServices & AuditingServices, context, { body }) => {
  const { isMember, reasons } = await explain(services, context, body);
  await recordRead(services, context, "segment_membership", 1);
  return success({ is_member: isMember, conditions: [...reasons] });
});

export const segmentEndpoints = [
  count,
  listCountsEndpoint,
  readCountEndpoint,
  stopCountEndpoint,
  users,
  explainEndpoint,
];
