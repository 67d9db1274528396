import type { EmailState } from "../../base/values/email-states.ts";
import type { Json, JsonObject } from "../../base/values/plain-json.ts";

/*
 * The email state of a profile without an address is stored in the profile, under `email_subscribe` and with
 * its time, until an address is linked (docs/decisions/email-state.md).
 */

export interface WaitingState {
  readonly state: EmailState;
  /** In microseconds since the epoch: times of one request differ by no more. */
  readonly setAt: number;
}

/** The value of `email_subscribe` in a stored profile. */
export const storedPending = ({ state, setAt }: WaitingState): JsonObject => ({
  state,
  set_at: new Date(Math.floor(setAt / 1_000))
    .toISOString()
    .replace("Z", `${String(setAt % 1_000).padStart(3, "0")}Z`),
});

export function parsePending(stored: Json | undefined): WaitingState | undefined {
  if (!stored) return undefined;
  const { state, set_at } = stored as { state: EmailState; set_at: string };
  const microseconds = Number(/\.\d{3}(\d{3})Z$/.exec(set_at)?.[1] ?? 0);
  return { state, setAt: Date.parse(set_at) * 1_000 + microseconds };
}

/** The newer state prevails; of two set at the same time, a refusal. */
export function prevails(state: WaitingState, over: WaitingState): boolean {
  if (state.setAt !== over.setAt) return state.setAt > over.setAt;
  return state.state === "unsubscribed" && over.state !== "unsubscribed";
}
