/*
 * Many writers at once on a few people, and a check of invariants for any order of their requests.
 *
 * Every attribute, event and purchase has a unique name. At the end each acknowledged one must
 * therefore either be at exactly one living profile, exactly once, or be named by exactly one entry
 * of the audit: that of the deletion (or of the identification that leaves data behind) which
 * removed it. A lost, doubled or revived one breaks this, in any order of the requests.
 */
import assert from "node:assert/strict";
import type { Answer, TestServer, TestWorkspace } from "../../../harness.ts";
import { checkEverything } from "./identity-chaos-checks.ts";
import { type Names, operation, randomFrom } from "./identity-chaos-operations.ts";

export interface Chaos {
  readonly seed: number;
  readonly users: number;
  readonly writers: number;
  readonly operations: number;
  /** Whether merged external ids identify the kept users. */
  readonly redirects?: boolean;
  /** Whether the workspace is emptied in between. */
  readonly resets?: boolean;
}

/** The requests of one run and their responses. */
export interface Log {
  /** Attributes, events and purchases that were acknowledged and not skipped. */
  readonly taken: Set<string>;
  /** All others that were sent. */
  readonly others: Set<string>;
  /** Items of requests that got no response: each is stored once, or nowhere. */
  readonly inDoubt?: Set<string>;
  /** How many messages were imported. */
  messages: number;
  /** How many more may have been: their requests got no response. */
  messagesInDoubt?: number;
  /** Names that others use in the same workspace. */
  readonly foreign?: ReadonlySet<string>;
  /** Requests that were answered with anything but a success. */
  readonly failures: string[];
}

/**
 * Lets the writers loose, each through one of the clients in turn, and then checks everything.
 *
 * @param clients the same workspace as several servers give it.
 */
export async function runChaos(
  server: TestServer,
  clients: readonly TestWorkspace[],
  chaos: Chaos,
): Promise<void> {
  const log: Log = { taken: new Set(), others: new Set(), messages: 0, failures: [] };
  const each = Math.ceil(chaos.operations / chaos.writers);
  await Promise.all(
    Array.from({ length: chaos.writers }, (_, writer) =>
      write(server, clients[writer % clients.length] as TestWorkspace, chaos, writer, each, log),
    ),
  );
  const [client] = clients;
  assert.deepEqual(log.failures.slice(0, 5), [], `seed ${chaos.seed}`);
  // What was emptied on the way is in no audit.
  if (client && !chaos.resets) await checkEverything(server, client, chaos, log);
}

async function write(
  server: TestServer,
  workspace: TestWorkspace,
  chaos: Chaos,
  writer: number,
  operations: number,
  log: Log,
): Promise<void> {
  const random = randomFrom(chaos.seed * 1_000 + writer);
  const platformIds: string[] = [];
  let last = 0;
  const newName = () => `${writer}-${++last}`;
  const admin = { key: server.adminToken };
  for (let done = 0; done < operations; ) {
    if (chaos.resets && writer === 0 && random.below(2) === 0) {
      await workspace.call("POST", `/admin/v1/workspaces/${workspace.name}/reset`, {}, admin);
    }
    const { path, body, names, items } = operation(random, chaos.users, newName, platformIds);
    // A repeated key would be answered without doing anything, so each is used once.
    const headers =
      random.below(10) === 0 ? { "idempotency-key": `${writer}-${done}-${chaos.seed}` } : {};
    const isImport = path === "import";
    const answer = isImport
      ? await workspace.call("POST", `/admin/v1/workspaces/${workspace.name}/${path}`, body, admin)
      : await workspace.call("POST", path, body, { headers });
    done += items;
    if (isImport && answer.status === 200) log.messages += items;
    for (const user of (answer.body.users ?? []) as { platform_id: string }[]) {
      platformIds.push(user.platform_id);
    }
    noteAnswer(log, path, answer, names);
  }
}

export function noteAnswer(
  log: Log,
  path: string,
  { status, body }: Pick<Answer, "status" | "body">,
  names: Names,
): void {
  if (status >= 300) log.failures.push(`${path}: ${status} ${JSON.stringify(body)}`);
  const { skipped = [], errors = [] } = body as {
    skipped?: { input_array: string; index: number }[];
    errors?: { input_array: string; index: number }[];
  };
  const left = new Set(
    [...skipped, ...errors].map(({ input_array, index }) => `${input_array} ${index}`),
  );
  for (const [array, sent] of Object.entries(names)) {
    for (const [index, name] of sent.entries()) {
      const isTaken = status < 300 && !left.has(`${array} ${index}`);
      (isTaken ? log.taken : log.others).add(name);
    }
  }
}
