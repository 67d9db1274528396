import { recordUserChanges } from "../../admin/audit/audit.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import type { IdentityServices } from "../../people/identity/change-identities.ts";
import { deleteNamed } from "../../people/identity/delete-users.ts";
import { findDeletion } from "../../people/identity/read-audit.ts";
import type { AuditEntry } from "../../people/identity/store.ts";
import { findHolders } from "../../people/profiles/find-holders.ts";
import { emailValue, identifierKey } from "../../people/profiles/identifiers.ts";
import { forgetAddress } from "../../people/subscriptions/person-states.ts";
import { mergedInto, requireProfile } from "./find-record.ts";

export interface Erasure {
  readonly platform_id: string;
  /**
   * What became of the state of the email address: `erased`, `kept` because other users have the address,
   * or `none` where there was none.
   */
  readonly email_state: "erased" | "kept" | "none";
  /** What the audit keeps, without any value of the user's. */
  readonly audit: AuditEntry;
}

/**
 * Erases a person: the profile with everything that `/users/delete` removes, and the state of the email
 * address, unless other users have it. All of it or nothing (docs/decisions/deleting-users.md).
 *
 * @throws Problem NOT_FOUND; CONFLICT for the id of a merged user.
 */
export async function eraseUser(
  services: IdentityServices,
  context: WorkspaceContext,
  platformId: string,
): Promise<Erasure> {
  const { database, clock } = services;
  const { workspace } = context;
  await requireProfile(database, workspace.id, platformId);
  let emailState: Erasure["email_state"] = "none";
  await deleteNamed(services, context, {
    names: [{ kind: "platform_id", value: platformId }],
    async alsoWrite(tx, [fault], [deleted]) {
      if (fault || !deleted) throw new Problem("NOT_FOUND", `There is no user '${platformId}'.`);
      // Merged since it was found: the id leads to another user.
      if (deleted.user.platformId !== platformId)
        throw mergedInto(platformId, deleted.user.platformId);
      emailState = "none";
      const { email } = deleted.fields;
      if (email !== null) {
        const address = { kind: "email" as const, value: emailValue(email) };
        const holders = await findHolders(tx, workspace.id, [address], 1);
        if ((holders.get(identifierKey(address)) ?? []).length > 0) emailState = "kept";
        else if (await forgetAddress(tx, workspace.id, address.value)) emailState = "erased";
      }
      const change = { action: "erased", kind: "user", name: platformId };
      await recordUserChanges(tx, clock, context, [{ ...change, workspace: workspace.name }]);
    },
  });
  const audit = await findDeletion(database, workspace.id, platformId);
  if (!audit) throw new Error(`The deletion of ${platformId} is not in the audit.`);
  return { platform_id: platformId, email_state: emailState, audit };
}
