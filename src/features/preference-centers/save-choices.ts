import { readFeed } from "../../core/admin/workspaces/find-workspace.ts";
import type { Context } from "../../core/base/context/context.ts";
import type { EmailState } from "../../core/base/values/email-states.ts";
import { within, withRetries } from "../../core/database/database.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import type { PeopleServices } from "../../core/people/profiles/write-people.ts";
import { setEmailStates } from "../../core/people/subscriptions/set-email-states.ts";
import { setGroupStates } from "../../core/people/subscriptions/set-group-states.ts";
import type { GroupState } from "../../core/people/subscriptions/states.ts";
import type { Choices } from "./choices.ts";
import type { Reader } from "./page-scope.ts";

/** The changes for a user: the choices that can take effect. */
interface Effective {
  readonly emailState: EmailState | undefined;
  readonly groupStates: readonly (readonly [groupId: string, state: GroupState])[];
}

/**
 * Saves a user's choices in one transaction, as the API does: for all who have the address, and
 * with a row of history.
 *
 * @returns whether there was anything to set, and the person was still there.
 */
export async function saveChoices(
  services: PeopleServices,
  context: Context,
  workspaceId: number,
  reader: Reader,
  choices: Choices,
): Promise<boolean> {
  const { emailState, groupStates } = effectOf(reader, choices);
  if (emailState === undefined && groupStates.length === 0) return false;
  const groupChannels = new Map(reader.groups.map(({ id, channel }) => [id, channel]));
  const named = [
    {
      identifier: { kind: "platform_id" as const, value: reader.profileId },
      place: { input_array: "form", index: 0 },
    },
  ];
  const sets = groupStates.map(([groupId, state]) => ({ groupId, state, named }));
  return withRetries(services.database, async (tx) => {
    const feed = await readFeed(tx, workspaceId);
    const own = { ...context, workspace: { id: workspaceId, feed, groupChannels } };
    const inTransaction = { ...services, database: within(services.database, tx) };
    const gone = await setGroupStates(inTransaction, own, sets);
    if (gone.length > 0) return false;
    const address = addressOf(reader);
    if (emailState && address) await setEmailStates(inTransaction, own, [address], emailState);
    return true;
  });
}

const addressOf = ({ email }: Reader) => (email === null ? undefined : namedAddress(email));

const namedAddress = (email: string) => ({
  kind: "email" as const,
  value: emailValue(email),
  address: email,
});

/** Whether choices say no more than that no mail is wanted, as the button of a page without choices does. */
export const isUnsubscribe = ({ isOneClick, emailState, groupStates }: Choices): boolean =>
  isOneClick ||
  emailState === "unsubscribed" ||
  (emailState === undefined && groupStates.size === 0);

export async function unsubscribeAddress(
  services: PeopleServices,
  context: Context,
  workspaceId: number,
  email: string,
): Promise<void> {
  await withRetries(services.database, async (tx) => {
    const feed = await readFeed(tx, workspaceId);
    const own = { ...context, workspace: { id: workspaceId, feed, groupChannels: new Map() } };
    const inTransaction = { ...services, database: within(services.database, tx) };
    await setEmailStates(inTransaction, own, [namedAddress(email)], "unsubscribed");
  });
}

/**
 * One click means no mail: the email state, or every group if there is no address any more. A group
 * that was removed since the page was shown has nothing to set.
 */
function effectOf(reader: Reader, { isOneClick, emailState, groupStates }: Choices): Effective {
  const { email, groups } = reader;
  if (isOneClick && email !== null) return { emailState: "unsubscribed", groupStates: [] };
  if (isOneClick) {
    return {
      emailState: undefined,
      groupStates: groups.map(({ id }) => [id, "unsubscribed"] as const),
    };
  }
  const known = new Set(groups.map(({ id }) => id));
  return {
    emailState: email === null ? undefined : emailState,
    groupStates: [...groupStates].filter(([id]) => known.has(id)),
  };
}
