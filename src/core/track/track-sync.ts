import type { WorkspaceContext } from "../base/context/context.ts";
import type { Queryable } from "../database/database.ts";
import type { IdempotencyClaim } from "../http/endpoint.ts";
import { selectEventSummary } from "../people/activity/events-store.ts";
import { selectProductSummaries } from "../people/activity/purchases-store.ts";
import { selectProfiles } from "../people/profiles/store.ts";
import { answerTo, nothingValid } from "./answer.ts";
import { checkRequest, type TrackBody } from "./check-request.ts";
import type { AttributesWork, EventWork, Item, PurchaseWork, Verdict } from "./item.ts";
import type { SyncReply, TouchedUser } from "./reply.ts";
import { countRefused, countVerdicts, type TrackServices } from "./track.ts";

/**
 * Records one object as `track` does, and responds with what it left on the user, read in the same
 * transaction. docs/decisions/bulk-and-sync.md
 *
 * @throws Problem INVALID_REQUEST without a valid object or with more than one; RATE_LIMITED when
 *   the write queue is full.
 */
export async function trackSync(
  services: TrackServices,
  context: WorkspaceContext,
  body: TrackBody,
  claim: IdempotencyClaim | undefined,
): Promise<SyncReply> {
  const { workspace } = context;
  const checked = await checkRequest(workspace, body, services.clock.now(), { objects: 1 });
  countRefused(services.metrics, checked.faults);
  const [item] = checked.items;
  if (!item) throw nothingValid(checked, body);
  let users: TouchedUser[] = [];
  const answer = (verdicts: readonly Verdict[]) => answerTo(checked, verdicts, { users });
  const verdicts = await services.writeQueue.write({
    context,
    items: [item],
    async readBack(tx, [verdict]) {
      users = [];
      if (verdict?.outcome !== "applied") return;
      const touched = await readTouched(tx, workspace.id, verdict.profileId, item.work);
      users.push({ ...identifierAsSent(body, item), ...touched });
    },
    ...(claim && { recorded: { claim, answer } }),
  });
  countVerdicts(services.metrics, verdicts);
  return answer(verdicts);
}

/** The identifier under the name that the request used: `braze_id` is a spelling of `platform_id`. */
function identifierAsSent(body: TrackBody, { array, identifier }: Item): TouchedUser {
  if (identifier.kind === "alias") return { user_alias: { ...identifier.alias } };
  if (identifier.kind === "email") return { email: identifier.address };
  if (identifier.kind !== "platform_id") return { [identifier.kind]: identifier.value };
  const [sent] = body[array] as readonly TouchedUser[];
  return typeof sent?.platform_id === "string"
    ? { platform_id: identifier.value }
    : { braze_id: identifier.value };
}

function readTouched(
  tx: Queryable,
  workspaceId: number,
  profileId: string,
  work: Item["work"],
): Promise<TouchedUser> {
  if (work.kind === "attributes") return readAttributes(tx, workspaceId, profileId, work);
  if (work.kind === "event") return readEvent(tx, workspaceId, profileId, work);
  return readPurchases(tx, workspaceId, profileId, work);
}

async function readAttributes(
  tx: Queryable,
  workspaceId: number,
  profileId: string,
  { custom }: AttributesWork,
): Promise<TouchedUser> {
  const [profile] = await selectProfiles(tx, workspaceId, [profileId]);
  const stored = new Map(Object.entries(profile?.customAttributes ?? {}));
  const touched = custom.map(({ name }) => [name, stored.get(name) ?? null] as const);
  return { custom_attributes: Object.fromEntries(touched) };
}

async function readEvent(
  tx: Queryable,
  workspaceId: number,
  profileId: string,
  { name }: EventWork,
): Promise<TouchedUser> {
  const summary = await selectEventSummary(tx, workspaceId, profileId, name);
  if (!summary) return { custom_events: [] };
  const { count, firstAt, lastAt } = summary;
  const [first, last] = [firstAt.toISOString(), lastAt.toISOString()];
  return { custom_events: [{ name, first, last, count }] };
}

/** One entry for the product, in however many currencies it was bought. */
async function readPurchases(
  tx: Queryable,
  workspaceId: number,
  profileId: string,
  { productId }: PurchaseWork,
): Promise<TouchedUser> {
  const rows = await selectProductSummaries(tx, workspaceId, profileId, productId);
  const firsts = rows.map(({ firstAt }) => firstAt.toISOString()).sort();
  const lasts = rows.map(({ lastAt }) => lastAt.toISOString()).sort();
  const [first, last] = [firsts[0], lasts.at(-1)];
  if (first === undefined || last === undefined) return { purchase_events: [] };
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  return { purchase_events: [{ product_id: productId, first, last, count }] };
}
