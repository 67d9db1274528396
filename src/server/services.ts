import { createAuthenticator } from "../core/admin/access/authenticate.ts";
import type { SessionFinder, SignInHint } from "../core/admin/access/presented-session.ts";
import type { ErasedPerson } from "../core/admin/retention/retention.ts";
import type { SharedSecret } from "../core/admin/secrets/shared-secret.ts";
import { describeError } from "../core/base/observe/log.ts";
import type { OnWritten } from "../core/track/write-batch.ts";
import { createWriteQueue } from "../core/track/write-queue.ts";
import type { App } from "./assemble.ts";
import type { Config } from "./config.ts";
import {
  createFirst,
  type FirstServices,
  type Services,
  type ServicesWithParts,
  type Watching,
} from "./core-services.ts";
import { findAdminToken } from "./server-secrets.ts";

/** A service that the core takes from a part, if one has it. */
interface Offered {
  readonly sessions?: SessionFinder;
  readonly signInHint?: SignInHint;
}

/**
 * Everything that endpoints and jobs are given, on a migrated database: each service once for the
 * process. A use case names the ones it needs.
 */
export async function createServices(
  config: Config,
  watching: Watching,
  app: App,
): Promise<{ readonly services: Services; readonly adminToken: SharedSecret }> {
  const adminToken = await findAdminToken(watching.disk.database, config);
  const first = await createFirst(config, watching, adminToken, app);
  // The parts see each other's services, and the core's later ones once they are made.
  const services = { ...first } as unknown as Services;
  for (const part of app.parts) {
    const own = await part.services?.(services, config);
    for (const name of Object.keys(own ?? {})) {
      if (name in services) throw new Error(`Two parts have a service '${name}'.`);
    }
    Object.assign(services, own);
  }
  Object.assign(services, await createLast(first, services, app));
  return { services, adminToken };
}

/** The services that parts take part in. */
async function createLast(
  first: FirstServices,
  services: Services,
  { parts }: App,
): Promise<ServicesWithParts> {
  const { sessions = NO_SESSIONS, signInHint } = services as Offered;
  const listeners = parts.flatMap((part) => part.onWritten?.(services) ?? []);
  const onWritten: OnWritten = (workspaceId, written) => {
    for (const listen of listeners) {
      try {
        listen(workspaceId, written);
      } catch (error) {
        // It is committed: an error here would have the requests written again.
        first.log.error(describeError(error), "what was written is not counted");
      }
    }
  };
  return {
    authenticator: createAuthenticator({ ...first, sessions }, first.adminTokenHashes, signInHint),
    onWritten,
    writeQueue: createWriteQueue(
      { ...first, onWritten },
      await first.database.lanes(first.writerCount),
    ),
    forgetWorkspace(workspaceId: number) {
      for (const part of parts) part.forgetWorkspace?.(services, workspaceId);
    },
    async forgetPerson(person: ErasedPerson) {
      for (const part of parts) await part.forgetPerson?.(services, person);
    },
  };
}

/** Without a part that has sessions nobody has one. */
const NO_SESSIONS: SessionFinder = { find: async () => undefined };
