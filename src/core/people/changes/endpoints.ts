import Type, { type Static } from "typebox";
import { type AuditingServices, recordRead } from "../../admin/audit/audit.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { createSlots, type Slots } from "../../base/pool.ts";
import { Problem } from "../../base/problem.ts";
import { OfWorkspace, Text } from "../../base/values/schemas.ts";
import { byAdministratorOfWorkspace, endpoint, withPermission } from "../../http/endpoint.ts";
import { CHANGE_TYPES, type ChangeType } from "./change.ts";
import { ChangeView } from "./change-view.ts";
import { writeCursor } from "./cursor.ts";
import type { FeedReaders } from "./feed-readers.ts";

export type FeedServices = { readonly feedReaders: FeedReaders; readonly changeReaders: Slots };

/** How many readers of a workspace, and of all, wait in one process. */
export const createChangeReaders = (): Slots => createSlots(2_000, 4_000);

const query = Type.Object({
  cursor: Type.Optional(
    Text(
      "That of the page before, or `beginning`. Without it: only changes from now on.",
      "beginning",
      { maxLength: 512 },
    ),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 1_000, description: "Changes at most." }),
  ),
  types: Type.Optional(
    Text("Only these types, separated by commas.", "user.created,user.updated", { maxLength: 512 }),
  ),
  user: Type.Optional(
    Text(
      "Only changes of the user with this platform_id.",
      "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
      { format: "uuid" },
    ),
  ),
  wait_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60,
      default: 0,
      description: "For how many seconds to wait if there is nothing new.",
      examples: [30],
    }),
  ),
});

const page = Type.Object({
  changes: Type.Array(ChangeView, { description: "In commit order for each user." }),
  cursor: Text(
    "Where to continue. It is opaque, and works for as long as changes are kept.",
    "c1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",
  ),
  caught_up: Type.Boolean({ description: "Whether there is nothing more at present." }),
});

/** @throws Problem GONE with `oldest`; NOT_FOUND if the feed is off. */
async function readPage(
  { feedReaders, changeReaders }: FeedServices,
  { workspace }: Pick<WorkspaceContext, "workspace">,
  request: { readonly query: Static<typeof query>; readonly signal: AbortSignal },
) {
  const { cursor, limit = 1_000, types, user, wait_s: seconds = 0 } = request.query;
  const leave = changeReaders.take(`${workspace.id}`);
  if (!leave) {
    const message = "Too many readers wait for changes of this workspace.";
    throw new Problem("RATE_LIMITED", message, { retryAfterSeconds: 5 });
  }
  try {
    const { changes, positions, isCaughtUp } = await feedReaders.read(workspace, {
      ...{ cursor, limit, types: typesIn(types), user: user?.toLowerCase() },
      ...{ waitMs: seconds * 1_000, signal: request.signal },
    });
    return {
      changes: changes.map((change) => ({ ...change })),
      cursor: writeCursor(workspace, positions),
      caught_up: isCaughtUp,
    };
  } finally {
    leave();
  }
}

function typesIn(types: string | undefined): ReadonlySet<ChangeType> | undefined {
  if (types === undefined) return undefined;
  const names = types.split(",").map((each) => each.trim());
  const unknown = names.find((name) => !(CHANGE_TYPES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const message = `'types' must be some of ${CHANGE_TYPES.join(", ")}, separated by commas.`;
    throw new Problem("INVALID_REQUEST", message);
  }
  return new Set(names as ChangeType[]);
}

const common = {
  summary: "Reads the changes of users in the order of their commits.",
  description:
    "Pass the `cursor` of the response to continue. With `wait_s` a request that finds nothing new waits for the next change. " +
    "A cursor whose changes have been deleted gets 410 with `oldest`. docs/changes.md describes the changes.",
  query,
  replies: { 200: page },
  refusals: ["NOT_FOUND", "GONE", "RATE_LIMITED"],
  takesLong: true,
  waits: true,
  lasts: true,
} as const;

const ofWorkspace = endpoint({
  name: "listChanges",
  method: "GET",
  path: "/admin/v1/workspaces/:name/changes",
  access: byAdministratorOfWorkspace("export_user_data", "view_pii"),
  params: OfWorkspace,
  ...common,
}).handledBy(async (services: FeedServices & AuditingServices, context, input) => {
  const body = await readPage(services, context, input);
  if (body.changes.length > 0) await recordRead(services, context, "changes", body.changes.length);
  return { status: 200, body };
});

const ofKey = endpoint({
  name: "getChanges",
  method: "GET",
  path: "/changes",
  access: withPermission("changes.get"),
  ...common,
}).handledBy(async (services: FeedServices, context, input) => ({
  status: 200,
  body: await readPage(services, context, input),
}));

export const changeEndpoints = [ofWorkspace, ofKey];
