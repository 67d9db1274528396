import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "./problem.ts";

/** The running server that a command talks to. */
export interface AdminTarget {
  readonly url: string;
  readonly adminToken: string | undefined;
  /** Where the token of a server on this machine is kept. */
  readonly dataDir: string;
}

interface Refusal {
  readonly message: string;
  /** Of a manifest: where in it the fault is. */
  readonly path?: readonly (string | number)[];
  /** Of a list: what is wrong with which of its objects. */
  readonly errors?: readonly object[];
}

/**
 * Calls the admin API of a running server.
 *
 * @param path below `/admin/v1`, such as `/apply`; its parameters are encoded.
 * @returns the body of the answer.
 * @throws Problem INVALID_REQUEST with the body of the answer, where that tells the place in a manifest
 *   or the objects of a list that are faulty; else an Error in words.
 */
export async function callAdmin<Answer>(
  target: AdminTarget,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
): Promise<Answer> {
  const adminToken = target.adminToken ?? (await readKeptToken(target.dataDir));
  const response = await fetch(new URL(`/admin/v1${path}`, addressOf(target)), {
    method,
    headers: {
      authorization: `Bearer ${adminToken}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw new Error(
      `The server at ${target.url} cannot be reached: ${String(error.cause ?? error)}`,
    );
  });
  const answer = (await response.json()) as Refusal;
  if (response.ok) return answer as Answer;
  if (answer.path ?? answer.errors)
    throw new Problem("INVALID_REQUEST", answer.message, { body: { ...answer } });
  throw new Error(`The server refused (${response.status}): ${answer.message}`);
}

function addressOf({ url }: AdminTarget): string {
  if (/^https?:/.test(url) && URL.canParse(url)) return url;
  throw new Error(`'${url}' is no address such as http://127.0.0.1:8080.`);
}

async function readKeptToken(dataDir: string): Promise<string> {
  const path = join(dataDir, "admin-token");
  const token = await readFile(path, "utf8").catch(() => undefined);
  if (token) return token.trim();
  throw new Error(
    `No admin token: set ADMIN_TOKEN, pass --admin-token, or run this where ${path} can be read.`,
  );
}
