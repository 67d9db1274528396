import {
  type BrokenRule,
  breakRule,
  copyRepository,
  findPlace,
} from "../../test/mutations/broken-rule.ts";
import { type Torture, torture } from "./torture.ts";

export interface SeededFault extends BrokenRule {
  /** The engine on which it shows; undefined for both. */
  readonly engine?: Torture["engine"];
}

/** The delay, as if a step were written in a separate transaction. */
const LATE_MS = 150;

/** Rules whose violation would cause no fault in ordinary use. */
export const SEEDED: readonly SeededFault[] = [
  {
    rule: "acknowledged data is flushed",
    engine: "embedded",
    file: "core/database/embedded/pglite-engine.ts",
    find: 'await engine.exec(setPlanner("intake", "session"));',
    replace:
      'await engine.exec(setPlanner("intake", "session") + "; set synchronous_commit = off");',
  },
  {
    rule: "PostgreSQL flushes a commit before it confirms it",
    engine: "postgres",
    file: "core/database/postgres/postgres.ts",
    find: 'TimeZone: "UTC",',
    replace: 'TimeZone: "UTC", synchronous_commit: "off",',
  },
  {
    rule: "the record of an Idempotency-Key is committed with the items",
    file: "core/track/write-batch.ts",
    find: "const record = () => services.idempotency.record(tx, workspace, recordedAnswers(worked));",
    replace:
      "const record = async () => void setTimeout(() => services.database.transaction((other) => " +
      `services.idempotency.record(other, workspace, recordedAnswers(worked))).catch(() => {}), ${LATE_MS});`,
  },
  {
    rule: "the progress of a sync is committed with its rows",
    file: "features/warehouses/write-rows.ts",
    find:
      "updateProgress(tx, key, boundary.through),\n" +
      "            upsertBoundary(tx, key, boundary),",
    replace:
      "void setTimeout(() => services.database.transaction(async (other) => { " +
      "await updateProgress(other, key, boundary.through); " +
      "await upsertBoundary(other, key, boundary); }).catch(() => {}), " +
      `${LATE_MS}),`,
  },
  {
    rule: "a profile that is written to is still there",
    file: "core/people/profiles/update-profiles-store.ts",
    find: 'return tx.execute(PATCH[hasNames(patches)] ?? "", parameters, patches.length);',
    replace: 'return tx.execute(PATCH[hasNames(patches)] ?? "", parameters);',
  },
  {
    rule: "a merge writes only profiles that are unchanged since they were read",
    // The embedded engine runs one transaction at a time, and a merge reads within its own.
    engine: "postgres",
    file: "core/people/identity/save-graph.ts",
    find: "refuseChanged(touched, locked, fresh.length === 0);",
    replace: "{}",
  },
  {
    rule: "an aborted transaction runs again",
    engine: "postgres",
    file: "core/database/database.ts",
    find: "if (attempt >= tries || !isAborted(error))\n                throw error;",
    replace: "if (isAborted(error)) return undefined; throw error;",
  },
];

/**
 * Breaks one rule after the other in a copy of the repository and tortures it.
 *
 * @param part of the names of the selected rules; empty for all.
 * @returns whether every fault was found within this many rounds.
 */
export async function findSeededFaults(
  { engine, rounds, seed }: Torture,
  part: string,
  tell: (line: string) => void,
): Promise<boolean> {
  const faults = SEEDED.filter(
    (each) => (each.engine ?? engine) === engine && each.rule.includes(part),
  );
  const copy = copyRepository();
  for (const each of faults) findPlace(copy, each);
  let found = 0;
  for (const each of faults) {
    const repair = breakRule(copy, each);
    const failure = await torture(copy, { engine, rounds, seed }, () => {});
    repair();
    if (failure) found++;
    const verdict = failure
      ? `found in ${failure.slice(0, 120).replaceAll("\n", " ")}`
      : "NOT FOUND";
    tell(`${each.rule} (src/${each.file}): ${verdict}`);
  }
  tell(`Found ${found} of ${faults.length} seeded faults on ${engine}.`);
  return found === faults.length;
}
