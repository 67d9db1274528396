import { isDuplicate, type Queryable, type Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { hashSecret } from "./secrets.ts";
import {
  type DeclaredKey,
  deleteKeys,
  insertKey,
  selectDeclaredKeys,
  selectKeyHolder,
} from "./store.ts";
import type { KeyHolder } from "./workspace.ts";

/** Who holds a key, by the key itself. */
export const findKeyHolder = (database: Queryable, key: string): Promise<KeyHolder | undefined> =>
  selectKeyHolder(database, hashSecret(key));

/** An API key as somebody declares it. */
export interface NewKey {
  readonly name: string;
  readonly key: string;
  readonly permissions: readonly string[];
  readonly ipAllowlist: readonly string[];
}

/** As it is kept: a hash in the place of the key. */
export const storedForm = ({ key, ...rest }: NewKey): DeclaredKey => ({
  ...rest,
  keyHash: hashSecret(key),
});

/** The keys of a workspace that manifests made. */
export const readDeclaredKeys = (tx: Transaction, workspaceId: number): Promise<DeclaredKey[]> =>
  selectDeclaredKeys(tx, workspaceId);

/**
 * Makes, replaces and removes declared keys.
 *
 * @throws Problem CONFLICT where another key has the name or the value already.
 */
export async function replaceKeys(
  tx: Transaction,
  target: { readonly workspaceId: number; readonly now: Date; newId(): string },
  todo: { readonly [step in "created" | "updated" | "removed"]: readonly DeclaredKey[] },
): Promise<void> {
  const gone = [...todo.removed, ...todo.updated].map((key) => key.name);
  await deleteKeys(tx, target.workspaceId, gone);
  for (const key of [...todo.created, ...todo.updated]) {
    const row = { ...key, id: target.newId(), declared: true };
    await insertKey(tx, target.workspaceId, row, target.now).catch((error) => {
      if (!isDuplicate(error)) throw error;
      const rule = "has a name or a value that another key has already";
      throw new Problem("CONFLICT", `The API key '${key.name}' ${rule}.`);
    });
  }
}
