import { Problem } from "../../base/problem.ts";

/** The streams that a process serves at the same time. */
export interface StreamSlots {
  /** @throws Problem RATE_LIMITED @returns gives the slot back. */
  take(workspaceId: number, caller: string): () => void;
}

/** Several tabs, and a terminal beside them. */
const OF_A_CALLER = 4;

/** Each stream looks at the kept requests twice a second. */
const OF_A_WORKSPACE = 16;

export function createStreamSlots(): StreamSlots {
  const taken = new Map<string, number>();

  function change(owner: string, by: number): void {
    const count = (taken.get(owner) ?? 0) + by;
    if (count > 0) taken.set(owner, count);
    else taken.delete(owner);
  }

  return {
    take(workspaceId, caller) {
      const limits = [
        [`caller ${caller}`, OF_A_CALLER, "You have"],
        [`workspace ${workspaceId}`, OF_A_WORKSPACE, "The workspace has"],
      ] as const;
      for (const [owner, most, subject] of limits) {
        if ((taken.get(owner) ?? 0) < most) continue;
        const sentence = `${subject} ${most} streams of live requests open already. Close one first.`;
        throw new Problem("RATE_LIMITED", sentence, { retryAfterSeconds: 10 });
      }
      for (const [owner] of limits) change(owner, 1);
      return () => {
        for (const [owner] of limits) change(owner, -1);
      };
    },
  };
}
