import Type from "typebox";
import { OfWorkspace, succeeding, Text } from "../../core/base/values/schemas.ts";
import {
  byAdministratorOfWorkspace,
  endpoint,
  success,
  type TextStream,
} from "../../core/http/endpoint.ts";
import { type LiveServices, readRequest, readRequests } from "./read-requests.ts";
import { LiveRequest } from "./request-view.ts";
import { type StreamServices, streamRequests } from "./stream-requests.ts";

const PATH = "/admin/v1/workspaces/:name/requests";

const access = byAdministratorOfWorkspace("dev_console");

const filter = {
  status: Type.Optional(Text("Such as 400, or 4xx.", "4xx", { pattern: "^[1-5](\\d\\d|xx)$" })),
  key: Type.Optional(Text("The id or name of a key.", "backend", { maxLength: 255 })),
  user: Type.Optional(
    Text("The user that an item names; needs view_pii.", "ada", { maxLength: 997 }),
  ),
  endpoint: Type.Optional(
    Text("The path, or the declared path: /users/:id.", "/users/track", { maxLength: 2_048 }),
  ),
  code: Type.Optional(Text("The code of an item or a refusal.", "INVALID_TIME", { maxLength: 64 })),
};

const list = endpoint({
  name: "listLiveRequests",
  method: "GET",
  path: PATH,
  summary: "Lists the latest requests of API keys with their verdicts, newest first.",
  description:
    "Those of all servers on the database: each process keeps its latest ones in memory (`LIVE_REQUESTS`) and writes " +
    "at most 100 of them a second, refused ones first, where other processes find them. " +
    "Bodies, responses, messages, users and paths with them are shown to those with view_pii.",
  access,
  params: OfWorkspace,
  query: Type.Object({
    ...filter,
    cursor: Type.Optional(Type.String({ format: "uuid" })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  }),
  isHeavy: true,
  replies: succeeding({
    requests: Type.Array(LiveRequest, { description: "The requests." }),
    kept: Type.Integer({
      minimum: 0,
      description: "How many requests each process keeps; 0: live requests are off.",
      examples: [1_000],
    }),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: LiveServices, context, { query }) => {
  const { cursor, limit = 50, ...wanted } = query;
  const { rows, next } = await readRequests(services, context, wanted, { cursor, limit });
  const kept = services.requestLog.size;
  return success({ requests: [...rows], kept, ...next });
});

const read = endpoint({
  name: "getLiveRequest",
  method: "GET",
  path: `${PATH}/:id`,
  summary: "Reads one of the latest requests of API keys.",
  access,
  params: Type.Object({ name: Type.String(), id: Type.String({ format: "uuid" }) }),
  replies: succeeding({ request: LiveRequest }),
}).handledBy(async (services: LiveServices, context, { params }) =>
  success({ request: await readRequest(services, context, params.id) }),
);

const LONGEST_STREAM_SECONDS = 3_600;

const stream = endpoint({
  name: "streamLiveRequests",
  method: "GET",
  path: `${PATH}/stream`,
  summary:
    "Streams requests of API keys with their verdicts as they come in, as server-sent events.",
  description:
    "Each event `request` holds one request as JSON; `skipped` tells how many were left out because too many came in at " +
    "once. The stream ends after its time, when the session ends or the permission is revoked, and when the server " +
    "stops; browsers connect again by themselves. Four streams for each person and sixteen for each workspace are " +
    "open at a time, on each server process.",
  access,
  params: OfWorkspace,
  query: Type.Object({
    ...filter,
    for_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LONGEST_STREAM_SECONDS,
        default: LONGEST_STREAM_SECONDS,
        description: "After how many seconds the stream ends.",
        examples: [60],
      }),
    ),
  }),
  headers: Type.Object({
    "last-event-id": Type.Optional(
      Type.String({
        format: "uuid",
        description: "The id of the last event that was received: the stream resumes after it.",
      }),
    ),
  }),
  refusals: ["RATE_LIMITED"],
  streams: true,
  takesLong: true,
  produces: "text/event-stream",
  replies: {
    200: Type.Unsafe<TextStream>(
      Type.String({ examples: ['event: request\ndata: {"status":201}\n\n'] }),
    ),
  },
}).handledBy(async (services: StreamServices, context, { query, headers, confirmCaller }) => {
  const { for_seconds: forSeconds = LONGEST_STREAM_SECONDS, ...wanted } = query;
  const since = headers["last-event-id"];
  const input = { filter: wanted, since, forSeconds, confirmCaller };
  return { status: 200, body: streamRequests(services, context, input) };
});

export const liveRequestEndpoints = [list, stream, read];
