import { createSlots } from "../../core/base/pool.ts";
import { Problem } from "../../core/base/problem.ts";

/** The streams that a process serves at the same time. */
export type StreamSlots = ReturnType<typeof createStreamSlots>;

/** Several tabs, and a terminal beside them. */
const OF_A_CALLER = 4;

/** Each stream looks at the kept requests twice a second. */
const OF_A_WORKSPACE = 16;

/** Bounds the open streams of this process, by caller and by workspace. */
export function createStreamSlots() {
  const ofCallers = createSlots(OF_A_CALLER);
  const ofWorkspaces = createSlots(OF_A_WORKSPACE);
  return {
    /** @throws Problem RATE_LIMITED @returns gives the slot back. */
    take(workspaceId: number, caller: string) {
      const leaveCaller = ofCallers.take(caller);
      if (!leaveCaller) throw tooMany(`You have ${OF_A_CALLER}`);
      const leaveWorkspace = ofWorkspaces.take(`${workspaceId}`);
      if (leaveWorkspace) {
        return () => {
          leaveCaller();
          leaveWorkspace();
        };
      }
      leaveCaller();
      throw tooMany(`The workspace has ${OF_A_WORKSPACE}`);
    },
  };
}

const tooMany = (who: string): Problem =>
  new Problem("RATE_LIMITED", `${who} streams of live requests open already. Close one first.`, {
    retryAfterSeconds: 10,
  });
