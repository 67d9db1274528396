import Type, { type Static } from "typebox";
import {
  named,
  nullable,
  OfWorkspace,
  succeeding,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import {
  type CapturedCallServices,
  clearCapturedCalls,
  readCapturedCalls,
} from "./captured-calls.ts";
import type { CapturedRow } from "./captured-store.ts";

const DEFAULT_LIMIT = 100;

const MOST_CALLS = 1_000;

const Anything = Type.Record(Type.String(), Type.Unknown());

const CapturedCall = named("CapturedCall", {
  position: Type.Integer({ minimum: 1, description: "The number of the call in its workspace." }),
  captured_at: Text("ISO 8601.", "2026-01-01T12:00:00.000Z"),
  method: Text("The method of the call.", "POST"),
  path: Text("The path without the query.", "/messages/send"),
  query: Type.Record(Type.String(), Type.Unknown(), {
    description: "The parameters of the query.",
  }),
  body: nullable(Anything, {
    description: "The body as sent; null if there was none.",
    examples: [{ external_user_ids: ["ada"], messages: {} }],
  }),
  status: Type.Integer({ description: "The status that it got.", examples: [201] }),
  response: Type.Record(Type.String(), Type.Unknown(), {
    description: "The body that it got.",
    examples: [{ dispatch_id: "4a8b1c0d2e3f4a5b6c7d8e9f0a1b2c3d", message: "success" }],
  }),
  api_key: TextOrNull("The name of the key.", "dev"),
  request_id: Type.String(),
});

const listEndpoint = endpoint({
  name: "getCaptured",
  method: "GET",
  path: "/admin/v1/workspaces/:name/captured",
  summary: "Lists the calls that a workspace with capture_unsupported has captured, newest first.",
  description:
    "A workspace keeps the last 10,000 calls, at most 64 MB, for at most seven days. A page ends early where its " +
    "calls are large.",
  access: byAdministratorOfWorkspace("dev_console", "view_pii"),
  params: OfWorkspace,
  query: Type.Object({
    path: Type.Optional(Text("Only calls of this path and of paths below it.", "/messages")),
    cursor: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_CALLS, default: DEFAULT_LIMIT })),
  }),
  isHeavy: true,
  replies: succeeding({
    captured: Type.Array(CapturedCall, { description: "The calls." }),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: CapturedCallServices, context, { query }) => {
  const { path, cursor, limit = DEFAULT_LIMIT } = query;
  const { calls, next } = await readCapturedCalls(services, context, { path, cursor, limit });
  return success({ captured: calls.map(viewOf), ...next });
});

const viewOf = (row: CapturedRow): Static<typeof CapturedCall> => ({
  position: row.position,
  captured_at: row.capturedAt.toISOString(),
  method: row.method,
  path: row.path,
  query: JSON.parse(row.query),
  body: row.body === null ? null : JSON.parse(row.body),
  status: row.status,
  response: JSON.parse(row.response),
  api_key: row.keyName,
  request_id: row.requestId,
});

const clearEndpoint = endpoint({
  name: "deleteCaptured",
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/captured",
  summary: "Deletes the captured calls of a workspace.",
  access: byAdministratorOfWorkspace("dev_console"),
  params: OfWorkspace,
  replies: succeeding({
    deleted: Type.Integer({ minimum: 0, description: "How many there were." }),
  }),
}).handledBy(async (services: CapturedCallServices, context) => {
  const deleted = await clearCapturedCalls(services, context);
  return success({ deleted });
});

export const captureEndpoints = [listEndpoint, clearEndpoint];
