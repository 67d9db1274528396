import Type, { type Static } from "typebox";
import { recordingRefusals, recordRefusal } from "../../../core/admin/audit/refusals.ts";
import { contextOf, type Job, type JobKind, TryAgain } from "../../../core/admin/jobs/job.ts";
import { enqueue } from "../../../core/admin/jobs/queue.ts";
import { hashSecret, newSecret } from "../../../core/admin/secrets/secrets.ts";
import { readWorkspaceNames } from "../../../core/admin/workspaces/find-workspace.ts";
import { later } from "../../../core/base/clock.ts";
import type { WorkspaceContext } from "../../../core/base/context/context.ts";
import type { WorkspaceSettings } from "../../../core/base/context/workspace-settings.ts";
import { createFairLine } from "../../../core/base/fair-line.ts";
import { Problem } from "../../../core/base/problem.ts";
import { Text } from "../../../core/base/values/schemas.ts";
import { type Database, withRetries } from "../../../core/database/database.ts";
import type { StoringServices } from "../../../core/database/storing-services.ts";
import type { BucketFolder } from "../../../core/outbound/bucket.ts";
import { fetchOutbound } from "../../../core/outbound/fetch-outbound.ts";
import { type Outbound, OutboundRefused } from "../../../core/outbound/outbound.ts";
import { ReachRefused } from "../../../core/outbound/reach-refused.ts";
import { EXPORT_FIELDS } from "../../export/feature.ts";
import { filterOf } from "../scope.ts";
import { isMakerGone } from "./maker.ts";
import {
  addToken,
  deleteExpiredExports,
  endExport,
  insertExport,
  lockExports,
  type RunningExport,
  type SegmentExport,
  type StoredExport,
  selectExport,
  selectRunning,
} from "./store.ts";

/*
 * An export of a segment is a link. Its archive is written while it is downloaded, a few thousand users at a time, so
 * it needs no disk and no memory, any server of the installation can send it, nothing is left to delete, and a user
 * who is erased is in no file (docs/decisions/segment-exports.md). If the workspace has a bucket, a job writes the files
 * there instead (upload.ts).
 */

export type SegmentExportServices = StoringServices & { readonly outbound: Outbound };

export const WantedSegmentExport = Type.Object({
  segment_id: Type.String({ maxLength: 64 }),
  fields_to_export: Type.Array(Type.Enum([...EXPORT_FIELDS]), {
    minItems: 1,
    maxItems: 200,
    description: "The fields of each user; `custom_attributes` are exported as a whole.",
  }),
  callback_endpoint: Type.Optional(
    Text(
      "Gets a POST with `success`, and its own `url` once the link opens or the number of `files` in the bucket.",
      "https://hooks.example/exports",
      { maxLength: 2_048 },
    ),
  ),
  output_format: Type.Optional(
    Type.Enum(["zip", "gzip"], {
      description:
        "zip, the default, has files of 5,000 users, one JSON object a line; gzip has all of them in one file.",
    }),
  ),
});

/** How long a link opens. */
const LINK_HOURS = 4;

/** How long files may be written into a bucket. */
const BUCKET_HOURS = 24;

/** Exports into buckets at once for a company, as publicly known, and for one of its workspaces. */
const MOST_RUNNING = 100;
const MOST_OF_ONE = 20;

export const CALLBACK_JOB = "segment_export_callback";
export const UPLOAD_JOB = "segment_export_upload";

/**
 * Starts an export.
 *
 * @returns the prefix that names the export, and the link unless the workspace has a bucket.
 * @throws Problem NOT_FOUND for an unknown segment; INVALID_REQUEST for a callback that may not be called; RATE_LIMITED
 *   while another export of the segment is written or waits for its callback, while as many of the workspace or of the
 *   company as may be are written into buckets, and while as many of its callbacks as may be are looked up.
 */
export async function startSegmentExport(
  services: SegmentExportServices,
  context: WorkspaceContext,
  wanted: Static<typeof WantedSegmentExport>,
  baseUrl: string,
): Promise<{ readonly url: string | undefined; readonly prefix: string }> {
  const { database, clock, outbound } = services;
  const { workspace } = context;
  const { segment_id, fields_to_export: fields, output_format: format = "zip" } = wanted;
  const { given: filter } = await filterOf(database, context, { segment_id });
  const callbackUrl = wanted.callback_endpoint ?? null;
  if (callbackUrl !== null) {
    await callbackChecks.run(workspace.id, () =>
      recordingRefusals(services, context, () => checkCallback(outbound, callbackUrl)),
    );
  }
  const now = clock.now();
  const bucket = bucketOf(workspace.settings);
  const id = clock.newId();
  const each: SegmentExport = {
    workspaceId: workspace.id,
    id,
    segmentId: segment_id.toLowerCase(),
    filter,
    fields,
    format,
    prefix: `segment-export/${segment_id.toLowerCase()}/${now.toISOString().slice(0, 10)}/${id}`,
    callbackUrl,
    baseUrl,
    expiresAt: later(now, { hours: bucket ? BUCKET_HOURS : LINK_HOURS }),
    bucket,
    makerHash: context.secretHash ?? null,
    makerAddress: context.address,
  };
  const token = bucket ? undefined : newSecret("export");
  await withRetries(database, async (tx) => {
    await lockExports(tx);
    refuseOneMore(await selectRunning(tx, now), each);
    await insertExport(tx, each, token === undefined ? null : hashSecret(token), now);
    const job = { workspaceId: workspace.id, subject: each.id };
    if (bucket) await enqueue(tx, clock, { ...job, kind: UPLOAD_JOB });
    else if (callbackUrl !== null) await enqueue(tx, clock, { ...job, kind: CALLBACK_JOB });
  });
  return { url: token && linkTo(baseUrl, token), prefix: each.prefix };
}

const bucketOf = ({
  export_bucket: { connection, url },
}: WorkspaceSettings): BucketFolder | null =>
  connection !== undefined && url !== undefined ? { connection, url } : null;

export const EXPORT_PATH = "/segment-exports";

const linkTo = (baseUrl: string, token: string): string => `${baseUrl}${EXPORT_PATH}/${token}`;

/** A link that waits for its callback writes nothing, so it only keeps its own segment. */
function refuseOneMore(
  running: readonly RunningExport[],
  { workspaceId, segmentId, bucket }: SegmentExport,
): void {
  const refuse = (message: string) =>
    new Problem("RATE_LIMITED", message, { retryAfterSeconds: 10 });
  const own = running.filter((each) => each.workspaceId === workspaceId);
  if (own.some((each) => each.segmentId === segmentId)) {
    throw refuse("Another export of this segment is in progress.");
  }
  if (bucket === null) return;
  const writes = ({ isWriting }: RunningExport) => isWriting;
  if (own.filter(writes).length >= MOST_OF_ONE) {
    throw refuse(`${MOST_OF_ONE} exports of segments of this workspace are in progress.`);
  }
  if (running.filter(writes).length >= MOST_RUNNING) {
    throw refuse(`${MOST_RUNNING} exports of segments are in progress.`);
  }
}

/** Each looks up a name, for three seconds at most: workspaces take turns. */
const callbackChecks = createFairLine({
  places: 20,
  mostWaiting: 20,
  refusal: () =>
    new Problem("RATE_LIMITED", "The hosts of other callbacks are being looked up.", {
      retryAfterSeconds: 3,
    }),
});

/** How the audit log names a callback. */
const CALLBACK = { kind: "segment_export", name: "callback_endpoint" };

/** @throws Problem INVALID_REQUEST for a text that is not a URL that may be called. */
async function checkCallback(outbound: Outbound, url: string): Promise<void> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password) {
    const sentence = "must be an http: or https: URL without a user or a password.";
    throw new Problem("INVALID_REQUEST", `'callback_endpoint' ${sentence}`);
  }
  const port = Number(parsed.port || (parsed.protocol === "http:" ? 80 : 443));
  // The caller of a key may not learn which names a private network has.
  await outbound.check(parsed.hostname, port, { mustResolve: true }).catch((error: unknown) => {
    if (!(error instanceof OutboundRefused)) throw error;
    const message = `'callback_endpoint' is refused: ${error.message}`;
    throw new ReachRefused(CALLBACK, "INVALID_REQUEST", message);
  });
}

export const MOST_TRIES = 6;
export const FIRST_DELAY_MS = 1_000;
const CALLBACK_MS = 15_000;

/**
 * Tells a callback that the export is ready, with its own link, that its files are in the bucket,
 * or that the export failed.
 */
export const callbackJob: JobKind<SegmentExportServices> = {
  name: CALLBACK_JOB,
  takes: "wait",
  async run(services, job) {
    const { database, clock } = services;
    const found = await selectExport(database, job.workspaceId, job.subject);
    const isOpen = found && found.expiresAt > clock.now() && !(await isMakerGone(services, found));
    if (isOpen) await callBack(services, job, found);
    await endCallback(services, job);
  },
  giveUp: endCallback,
};

function endCallback({ database }: SegmentExportServices, job: Job): Promise<void> {
  return database.transaction(async (tx) => {
    await endExport(tx, job.subject);
    await job.finish(tx);
  });
}

export async function contextIn(database: Database, job: Job) {
  const name = (await readWorkspaceNames(database)).get(job.workspaceId) ?? "";
  return { ...contextOf(job), workspace: { name } };
}

async function callBack(
  services: SegmentExportServices,
  job: Job,
  found: StoredExport,
): Promise<void> {
  const { database, outbound } = services;
  const { callbackUrl } = found;
  if (callbackUrl === null) return;
  const body = found.bucket ? reportOfUpload(found) : await reportOfLink(database, found);
  try {
    const response = await fetchOutbound(outbound, {
      url: callbackUrl,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.any([job.signal, AbortSignal.timeout(CALLBACK_MS)]),
    });
    response.discard();
    if (!response.ok) throw new Error(`The callback responded with ${response.status}.`);
  } catch (error) {
    // A host that may no longer be called stays so; the link of the response still opens.
    if (error instanceof OutboundRefused) {
      const context = await contextIn(services.database, job);
      return recordRefusal(services, context, CALLBACK, error.message);
    }
    if (job.failures + 1 >= MOST_TRIES) return;
    throw new TryAgain(FIRST_DELAY_MS * 3 ** job.failures, error);
  }
}

async function reportOfLink(database: Database, { id, baseUrl, prefix }: StoredExport) {
  const token = newSecret("export");
  await addToken(database, id, hashSecret(token));
  return { success: true, object_prefix: prefix, url: linkTo(baseUrl, token) };
}

const reportOfUpload = ({ prefix, failure, files, users }: StoredExport) =>
  failure === null
    ? { success: true, object_prefix: prefix, files, users }
    : { success: false, object_prefix: prefix, message: failure };

/** Deletes exports whose links have expired. */
export const sweepSegmentExports = (database: Database, now: Date) =>
  deleteExpiredExports(database, now);
