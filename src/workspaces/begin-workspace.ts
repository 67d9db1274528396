import type { Transaction } from "../database/database.ts";
import type { Change, Section, SectionTarget } from "./section.ts";

/**
 * Gives a new workspace what every one has from the beginning.
 *
 * @param said the sections that whoever makes it declares: those are left as they are declared.
 */
export async function beginWorkspace(
  tx: Transaction,
  sections: readonly Section[],
  target: SectionTarget,
  said: Readonly<Record<string, unknown>>,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const section of sections) {
    if (said[section.key] !== undefined || !section.begin) continue;
    changes.push(...(await section.begin(tx, target)));
  }
  return changes;
}
