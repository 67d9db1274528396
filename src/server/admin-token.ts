import { hashSecret, refuseShortSecret } from "../admin/secrets/secrets.ts";
import { type SharedSecret, shareSecret } from "../admin/secrets/shared-secret.ts";
import type { Clock } from "../base/clock.ts";
import type { Database } from "../database/database.ts";
import type { Config } from "./config.ts";
import { ADMIN_TOKEN_FILE } from "./welcome.ts";

/**
 * The token that opens `/admin/v1` on this server: `ADMIN_TOKEN` alone where it is set, else the generated one
 * of the database.
 *
 * @throws Problem INVALID_REQUEST for a token that could be guessed.
 */
export async function findAdminToken(
  services: { readonly database: Database; readonly clock: Clock },
  { adminToken, dataDir, shortestSecret }: Config,
): Promise<SharedSecret> {
  if (adminToken === undefined) return shareSecret(services, dataDir, ADMIN_TOKEN_FILE, "admin");
  refuseShortSecret(adminToken, shortestSecret, "ADMIN_TOKEN");
  return { hash: hashSecret(adminToken), secret: adminToken, isNew: false, origin: undefined };
}
