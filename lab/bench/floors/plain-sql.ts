import type { FloorTarget } from "../engines/engine.ts";
import type { RoleMain } from "../processes/child.ts";
import { createRandom } from "../workloads/random.ts";
import { createUserPicker } from "../workloads/users.ts";
import { workloadNamed } from "../workloads/workloads.ts";
import { openConnection } from "./connections.ts";
import { createMessages } from "./messages.ts";

export interface PlainSqlSettings {
  readonly workload: string;
  readonly users: number;
  readonly target: FloorTarget;
}

export interface PlainSqlResult {
  readonly seconds: number;
  readonly units: number;
}

/**
 * The second floor: the same volume in the best plain SQL that we know, on the same engine.
 *
 * Every connection writes to separate users, so that none waits for another, and prepares its next
 * batch while the engine works on the last.
 */
export const playPlainSql: RoleMain<PlainSqlSettings, { seconds: number }> = async ({
  workload: name,
  users,
  target,
}) => {
  const { floor, distribution } = workloadNamed(name);
  const { connections, unitsPerBatch, statements } = floor[target.engine];
  const writers = await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const random = createRandom(index + 1);
      const pickAny = createUserPicker(distribution, users, random);
      const pick = () => {
        for (;;) {
          const user = pickAny();
          if (user % connections === index) return user;
        }
      };
      const connection = await openConnection(target);
      const messages = createMessages();
      for (const [statement, sql] of Object.entries(statements)) {
        messages.parse(statement, sql);
      }
      messages.sync();
      await connection.send(messages.take());
      const nextBatch = () => {
        floor.write(messages, unitsPerBatch, random, pick);
        messages.sync();
        return messages.take();
      };
      return { connection, nextBatch };
    }),
  );

  return {
    async call({ seconds }): Promise<PlainSqlResult> {
      const startedAt = performance.now();
      const endsAt = startedAt + seconds * 1_000;
      let units = 0;
      await Promise.all(
        writers.map(async ({ connection, nextBatch }) => {
          let batch = nextBatch();
          while (performance.now() < endsAt) {
            const done = connection.send(batch);
            batch = nextBatch();
            await done;
            units += unitsPerBatch;
          }
        }),
      );
      return { seconds: (performance.now() - startedAt) / 1_000, units };
    },
  };
};
