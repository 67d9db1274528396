import type { Json, JsonObject } from "../values/plain-json.ts";
import type { EmailState } from "./store.ts";

/*
 * The email state of a profile without an address is stored in the profile, under `email_subscribe` and with
 * its time, until an address is linked (docs/decisions/email-state.md).
 */

export interface WaitingState {
  readonly state: EmailState;
  /** ISO 8601. */
  readonly set_at: string;
}

export const startWaiting = (state: EmailState, now: Date): WaitingState & JsonObject => ({
  state,
  set_at: now.toISOString(),
});

/** The value of `email_subscribe` in a stored profile. */
export const readWaiting = (value: Json | undefined): WaitingState | undefined =>
  (value ?? undefined) as WaitingState | undefined;

/** The newer state prevails; of two set at the same time, a refusal. */
export function prevails(state: WaitingState, over: WaitingState): boolean {
  const later = Date.parse(state.set_at) - Date.parse(over.set_at);
  if (later !== 0) return later > 0;
  return state.state === "unsubscribed" && over.state !== "unsubscribed";
}
