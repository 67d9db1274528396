import { Problem, type ProblemCode } from "../../core/base/problem.ts";
import type { Database } from "../../core/database/database.ts";
import { readLocalSignIn } from "../dashboard-users/feature.ts";

/** Whether people may sign in with invitations, passwords and passkeys. */
export interface LocalSignIn {
  isOn(): Promise<boolean>;
  /** As it was within the last second: strangers may ask as often as they like. */
  wasOn(): Promise<boolean>;
  off(code: ProblemCode): Problem;
  /** The name of the identity provider; null if none is set up. */
  readonly provider: string | null;
}

/**
 * Without an identity provider they always may; with one, only if the company says so: who is removed there must not stay here.
 *
 * @param provider the name of the identity provider; undefined if none is set up.
 */
export const createLocalSignIn = (
  database: Database,
  provider: string | undefined,
): LocalSignIn => {
  const isOn = async () => provider === undefined || (await readLocalSignIn(database));
  let asked = { answer: Promise.resolve(false), until: 0 };
  return {
    isOn,
    wasOn() {
      const now = performance.now();
      if (asked.until > now) return asked.answer;
      const answer = isOn();
      asked = { answer, until: now + 1_000 };
      // A failure is not repeated.
      answer.catch(() => {
        asked = { answer, until: 0 };
      });
      return answer;
    },
    off: (code) =>
      new Problem(
        code,
        `People sign in with ${provider}. An administrator can allow invitations, passwords and passkeys beside it: ` +
          "company settings, Dashboard users, or PUT /admin/v1/sign-in.",
      ),
    provider: provider ?? null,
  };
};
