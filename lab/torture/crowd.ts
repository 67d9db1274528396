/*
 * Writers that track, merge, identify, alias, delete, set states and import messages, all on the same few users:
 * the load and the checks of identity-chaos.ts.
 */
import assert from "node:assert/strict";
import { type Log, noteAnswer } from "../../test/core/people/identity/identity-chaos.ts";
import { checkEverything } from "../../test/core/people/identity/identity-chaos-checks.ts";
import {
  operation,
  randomFrom,
} from "../../test/core/people/identity/identity-chaos-operations.ts";
import type { Load, Scene } from "./scene.ts";

/** The audit entries of owned-users.ts's deletions in the same workspace. */
const foreign = new Set(["tick", "p (EUR)"]);

const WRITERS = 6;
const USERS = 16;

export function crowd(scene: Scene): Load {
  const { client, name, seed } = scene;
  const log: Log = {
    taken: new Set(),
    others: new Set(),
    inDoubt: new Set(),
    messages: 0,
    failures: [],
    foreign,
  };

  async function write(writer: number): Promise<void> {
    const random = randomFrom(seed * 1_000 + writer);
    const platformIds: string[] = [];
    let last = 0;
    const newName = () => `${writer}-${++last}`;
    while (scene.goesOn()) {
      const { path, body, names, items } = operation(random, USERS, newName, platformIds);
      if (path === "import") {
        await importMessages(body, items);
        continue;
      }
      // With a key, profiles are locked from the start, so both ways of writing are tortured.
      const answer =
        random.below(2) === 0 ? await scene.call(path, body) : await scene.callOnce(path, body);
      if (!answer) {
        for (const name of Object.values(names).flat()) log.inDoubt?.add(name);
        continue;
      }
      for (const user of answer.body.users ?? []) platformIds.push(user.platform_id);
      noteAnswer(log, path, answer, names);
    }
  }

  /** Such a request is not repeated, for administrators have no idempotency keys. */
  async function importMessages(body: object, items: number): Promise<void> {
    const answer = await client.adminOnce(`/admin/v1/workspaces/${name}/import`, body);
    if (answer?.status === 200) log.messages += items;
    else log.messagesInDoubt = (log.messagesInDoubt ?? 0) + items;
  }

  return {
    async run() {
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      assert.deepEqual(log.failures.slice(0, 5), [], `refused in ${name}`);
    },
    async check() {
      await checkEverything(client, scene, { seed, users: USERS }, log);
    },
    items: () => log.taken.size + log.messages,
  };
}
