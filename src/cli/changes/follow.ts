import { setTimeout as sleep } from "node:timers/promises";
import { callAdmin } from "../admin-client.ts";
import { AdminError, type AdminTarget } from "../target.ts";

/** A change as the server shows it: docs/changes.md. */
export interface ShownChange {
  readonly type: string;
  readonly at: string;
  readonly user?: { readonly platform_id: string; readonly external_id?: string };
  readonly [field: string]: unknown;
}

interface Page {
  readonly changes: readonly ShownChange[];
  readonly cursor: string;
  readonly caught_up: boolean;
}

export interface Following {
  /** `/workspaces/{name}`. */
  readonly path: string;
  /** Undefined for changes from now on. */
  readonly cursor: string | undefined;
  readonly types?: string | undefined;
  /** The platform_id of one user. */
  readonly user?: string | undefined;
  /** Whether to wait for more after the last change. */
  readonly follows: boolean;
}

const WAIT_S = 30;

/** How often a server that does not respond is asked again, a second apart. */
const MOST_ATTEMPTS = 60;

/** Pages of the change feed, each with the cursor after it. @throws AdminError, or in words */
export async function* readChanges(
  target: AdminTarget,
  { path, cursor: first, types, user, follows }: Following,
): AsyncGenerator<Page> {
  let cursor = first;
  for (;;) {
    const query = new URLSearchParams({
      ...(cursor !== undefined && { cursor }),
      ...(types !== undefined && { types }),
      ...(user !== undefined && { user }),
      // Without a cursor the first response contains the present position.
      ...(follows && cursor !== undefined && { wait_s: String(WAIT_S) }),
    });
    const page = await patiently(follows, () =>
      callAdmin<Page>(target, "GET", `${path}/changes?${query}`),
    );
    yield page;
    if (page.caught_up && !follows) return;
    ({ cursor } = page);
  }
}

async function patiently<Result>(isPatient: boolean, call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const passes =
        error instanceof AdminError &&
        (error.status === undefined || error.status === 429 || error.status === 503);
      if (!isPatient || !passes || attempt === MOST_ATTEMPTS) throw error;
      await sleep(1_000);
    }
  }
}

/** A change in one line. */
export function describeChange({ type, at, user, id: _id, ...data }: ShownChange): string {
  const name = user?.external_id ?? user?.platform_id ?? "";
  return [at, type, name, JSON.stringify(data.values ?? data)].filter((each) => each).join("  ");
}
