import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { refuseUnstorable } from "../../core/base/values/plain-json.ts";
import { withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { advanceHead, deleteBeyond, insertCall } from "./captured-store.ts";
import type { PublicCall } from "./public-calls.ts";
import type { CapturedReply } from "./replies.ts";

/**
 * The limit of a workspace: beyond it the oldest calls are deleted. The number of calls alone would allow 40 GB, because
 * a body may have 4 MB.
 */
export const CAPTURE_LIMITS = { calls: 10_000, bytes: 64 * 1_048_576 };

export interface ReceivedCall {
  readonly params: Readonly<Record<string, string>> | undefined;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Stores a public call that Rapport does not serve.
 *
 * @returns a plausible success.
 * @throws Problem INVALID_REQUEST for a body that no engine can keep.
 */
export async function captureCall(
  { database, clock }: StoringServices,
  { workspace, actorName, requestId }: WorkspaceContext,
  [method, path, , replyTo]: PublicCall,
  { params = {}, query, body }: ReceivedCall,
): Promise<CapturedReply> {
  refuseUnstorable(body ?? {});
  const now = clock.now();
  const reply = replyTo({ params, body, now });
  const texts = {
    path: path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? "")),
    query: JSON.stringify(query),
    body: body === undefined ? null : JSON.stringify(body),
    response: JSON.stringify(reply.body),
  };
  const bytes = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
  await withRetries(database, async (tx) => {
    const head = await advanceHead(tx, workspace.id, bytes);
    const call = {
      ...texts,
      position: head.calls,
      capturedAt: now,
      method,
      status: reply.status,
      keyName: actorName,
      requestId,
      bytes,
    };
    await insertCall(tx, workspace.id, call, head.bytes - bytes);
    await deleteBeyond(tx, workspace.id, head, CAPTURE_LIMITS);
  });
  return reply;
}
