import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A running server whose admin API a command talks to. */
export interface AdminTarget {
  readonly url: string;
  readonly adminToken: string | undefined;
  /** Where the token of a server on this machine is kept. */
  readonly dataDir: string;
}

export interface AdminAnswer {
  readonly status: number;
  readonly isOk: boolean;
  readonly body: Readonly<Record<string, unknown>> & { readonly message: string };
}

export type AdminClient = (method: string, path: string, body?: unknown) => Promise<AdminAnswer>;

/**
 * A client of the admin API.
 *
 * @throws where there is no token, or the server cannot be reached; a refusal is an answer.
 */
export async function connectAdmin(target: AdminTarget): Promise<AdminClient> {
  const adminToken = target.adminToken ?? (await readKeptToken(target.dataDir));
  return async (method, path, body) => {
    const response = await fetch(new URL(path, target.url), {
      method,
      headers: {
        authorization: `Bearer ${adminToken}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: Error) => {
      const cause = String(error.cause ?? error);
      throw new Error(`The server at ${target.url} cannot be reached: ${cause}`);
    });
    const answer = (await response.json()) as AdminAnswer["body"];
    return { status: response.status, isOk: response.ok, body: answer };
  };
}

async function readKeptToken(dataDir: string): Promise<string> {
  const path = join(dataDir, "admin-token");
  const token = await readFile(path, "utf8").catch(() => undefined);
  if (token) return token.trim();
  throw new Error(
    `No admin token: set ADMIN_TOKEN, pass --admin-token, or run this where ${path} can be read.`,
  );
}
