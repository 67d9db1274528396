import type { Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { hashSecret } from "./secrets.ts";
import { type DeclaredToken, deleteTokens, insertTokens, selectDeclaredTokens } from "./store.ts";

/** A SCIM token as somebody declares it. */
export interface NewToken {
  readonly name: string;
  readonly token: string;
  readonly serviceOrigin: string;
  readonly requireOrigin: boolean;
}

/** As it is kept: a hash in the place of the token. */
export const storedToken = ({ token, ...rest }: NewToken): DeclaredToken => ({
  ...rest,
  tokenHash: hashSecret(token),
});

/** The tokens of a company that manifests made. */
export const readDeclaredTokens = (tx: Transaction, companyId: string): Promise<DeclaredToken[]> =>
  selectDeclaredTokens(tx, companyId);

/**
 * Makes, replaces and removes declared tokens.
 *
 * @throws Problem CONFLICT where another token has the name or the value already.
 */
export async function replaceTokens(
  tx: Transaction,
  target: { readonly companyId: string; readonly now: Date; newId(): string },
  todo: { readonly [step in "created" | "updated" | "removed"]: readonly DeclaredToken[] },
): Promise<void> {
  const gone = [...todo.removed, ...todo.updated].map((token) => token.name);
  await deleteTokens(tx, target.companyId, gone);
  const rows = [...todo.created, ...todo.updated].map((token) => ({
    ...token,
    id: target.newId(),
  }));
  const kept = await insertTokens(tx, target.companyId, rows, target.now);
  const refused = rows.find((row) => !kept.includes(row.id));
  if (!refused) return;
  const rule = "has a name or a value that another token has already";
  throw new Problem("CONFLICT", `The SCIM token '${refused.name}' ${rule}.`);
}
