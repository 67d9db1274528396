import { createAllowance } from "../../base/allowance.ts";
import type { Context } from "../../base/context/context.ts";
import { withRetries } from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { type Reaching, ReachRefused } from "../../outbound/reach-refused.ts";
import { recordChanges } from "./audit.ts";

/*
 * Attempts to reach a host, folder or connection that is not the caller's are in the audit log.
 * Their number per minute is limited, so that a program cannot fill it.
 */

const MOST_A_MINUTE = 100;

const allowance = createAllowance(10_000);

/** In the company, or in a workspace. */
type SomeContext = Context & { readonly workspace?: { readonly name: string } };

/**
 * Writes an audit row for a refused attempt to reach a place, up to a limit per minute and
 * workspace.
 */
export async function recordRefusal(
  { database, clock }: StoringServices,
  context: SomeContext,
  { kind, name }: Reaching,
  reason: string,
): Promise<void> {
  const workspace = context.workspace?.name ?? "";
  if (allowance.take(workspace, MOST_A_MINUTE) > 0) return;
  const change = { action: "refused", kind, workspace, name, details: { reason } };
  await withRetries(database, (tx) => recordChanges(tx, clock, context, [change]));
}

/** Runs a function that may refuse to reach a place, and records such a refusal. */
export async function recordingRefusals<Result>(
  services: StoringServices,
  context: SomeContext,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReachRefused) {
      await recordRefusal(services, context, error.reaching, error.message);
    }
    throw error;
  }
}
