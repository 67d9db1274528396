import { tellDone, tellFailed } from "../../components/feedback.tsx";
import type { Attempt } from "./api.ts";

/** Reports the result of a delivery that a person asked for. */
export function tellAttempt({ outcome, status, response, error, duration_ms }: Attempt): void {
  if (outcome === "delivered") {
    tellDone(`The receiver accepted it with ${status} in ${duration_ms} ms.`);
    return;
  }
  const answer = response ? `${status}: ${response}` : String(status);
  tellFailed(new Error(error ?? `The receiver answered ${answer}`));
}
