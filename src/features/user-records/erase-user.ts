import { recordUserChanges } from "../../core/admin/audit/audit.ts";
import type { ErasedPerson, TraceEraser } from "../../core/admin/retention/retention.ts";
import { earlier } from "../../core/base/clock.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { mentionsOf } from "../../core/base/mentions.ts";
import { Problem } from "../../core/base/problem.ts";
import { usualSpellings } from "../../core/base/values/address-form.ts";
import { type Queryable, withRetries } from "../../core/database/database.ts";
import type { IdentityServices } from "../../core/people/identity/change-identities.ts";
import { deleteNamed } from "../../core/people/identity/delete-users.ts";
import { findDeletion } from "../../core/people/identity/read-audit.ts";
import type { AuditEntry } from "../../core/people/identity/store.ts";
import { findHolders } from "../../core/people/profiles/find-holders.ts";
import { emailValue, identifierKey } from "../../core/people/profiles/identifiers.ts";
import { selectMergedInto } from "../../core/people/profiles/merged-store.ts";
import type { ProfileRow } from "../../core/people/profiles/store.ts";
import { forgetAddress } from "../../core/people/subscriptions/person-states.ts";
import { mergedInto, requireProfile } from "./find-record.ts";

export interface Erasure {
  readonly platform_id: string;
  /**
   * The outcome for the state of the email address: `erased`, `kept` because other users have the
   * address, or `none` if there was none.
   */
  readonly email_state: "erased" | "kept" | "none";
  /** The part that stays in the audit, without any value of the user's. */
  readonly audit: AuditEntry;
}

export interface EraseServices extends IdentityServices {
  readonly traceErasers: readonly TraceEraser[];
  /** Drops what server processes hold in memory about a person, which the erasers do not reach. */
  readonly forgetPerson: (person: ErasedPerson) => Promise<void>;
}

/** Servers' clocks differ by less. */
const CLOCKS_DIFFER = { ms: 60_000 };

/**
 * Erases a person: the profile with everything that `/users/delete` removes, and the state of the
 * email address, unless other users have it, in one transaction (docs/decisions/deleting-users.md);
 * and what names the person elsewhere (docs/personal-data.md). That is removed first, in steps, so
 * that others do not wait for it; anything written meanwhile is removed with the person.
 *
 * @throws Problem NOT_FOUND; CONFLICT for the id of a merged user.
 */
export async function eraseUser(
  services: EraseServices,
  context: WorkspaceContext,
  platformId: string,
): Promise<Erasure> {
  const { database, clock } = services;
  const { workspace } = context;
  const profile = await requireProfile(database, workspace.id, platformId);
  const names = await namesOf(database, workspace.id, profile);
  const mentions = mentionsOf(names);
  const startedAt = earlier(clock.now(), CLOCKS_DIFFER);
  const everything = { mentions, since: new Date(0) };
  for (const erase of services.traceErasers) {
    let after: string | undefined;
    do {
      after = await withRetries(database, (tx) => erase(tx, workspace.id, everything, after));
    } while (after !== undefined);
  }
  let emailState: Erasure["email_state"] = "none";
  await deleteNamed(services, context, {
    names: [{ kind: "platform_id", value: platformId }],
    async alsoWrite(tx, [fault], [deleted]) {
      if (fault || !deleted) throw new Problem("NOT_FOUND", `There is no user '${platformId}'.`);
      // Merged since it was found: the id now names another user.
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
      for (const erase of services.traceErasers) {
        let after: string | undefined;
        do {
          after = await erase(tx, workspace.id, { mentions, since: startedAt }, after);
        } while (after !== undefined);
      }
      const change = { action: "erased", kind: "user", name: platformId };
      await recordUserChanges(tx, clock, context, [{ ...change, workspace: workspace.name }]);
    },
  });
  await services.forgetPerson({ workspaceId: workspace.id, names });
  const audit = await findDeletion(database, workspace.id, platformId);
  if (!audit) throw new Error(`The deletion of ${platformId} is not in the audit.`);
  return { platform_id: platformId, email_state: emailState, audit };
}

/** Every name of the person: present identifiers and ids of merged users. */
async function namesOf(
  database: Queryable,
  workspaceId: number,
  { id, externalId, aliases, email, phone }: ProfileRow,
): Promise<string[]> {
  const redirects = await selectMergedInto(database, workspaceId, [id]);
  const names = [
    id,
    externalId,
    ...(email === null ? [] : usualSpellings(email)),
    phone,
    ...aliases.map(({ alias_name }) => alias_name),
    ...redirects.flatMap((each) => [each.profileId, each.externalId]),
  ];
  return names.filter((name) => name !== null);
}
