import Type, { type Static } from "typebox";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { forwardPage, opaqueCursor, readOpaque } from "../../base/pages.ts";
import { EmailStateName } from "../../base/values/email-states.ts";
import { Cursor, named, nullable } from "../../base/values/schemas.ts";
import type { Database } from "../../database/database.ts";
import { type JoinedSpelling, selectJoined } from "./spellings-store.ts";

const State = (description: string) => nullable(EmailStateName, { description });

/** A spelling that was an address of its own before the upgrade to one form of each address. */
export const Joined = named("JoinedSpelling", {
  email: Type.String({ description: "The address in the form that is compared." }),
  spelling: Type.String({ description: "As it was stored.", examples: ["k@münchen.example"] }),
  before: State("The email state of this spelling; null if it had none."),
  other_before: State("The email state of the other spellings; null if they had none."),
  after: State("The email state of the address since; null if one of them had none."),
});

export const JoinedQuery = Type.Object({
  cursor: Cursor,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
});

const PAGE = 100;

/**
 * Lists the spellings that the upgrade joined with another one, so that an administrator can look through them.
 *
 * @throws Problem INVALID_REQUEST `Invalid cursor`.
 */
export async function listJoined(
  { database }: { readonly database: Database },
  { workspace }: WorkspaceContext,
  { cursor, limit = PAGE }: Static<typeof JoinedQuery>,
): Promise<{ spellings: Static<typeof Joined>[]; next_cursor?: string }> {
  const after = cursor === undefined ? { email: "", spelling: "" } : readCursor(cursor);
  const found = await selectJoined(database, workspace.id, after, limit + 1);
  const { rows, next } = forwardPage(found, limit, cursorOf);
  const spellings = rows.map(({ email, spelling, state, otherState, keptState }) => ({
    email,
    spelling,
    before: state,
    other_before: otherState,
    after: keptState,
  }));
  return { spellings, ...next };
}

/** Addresses have no line breaks, except in quotes. */
const cursorOf = ({ email, spelling }: JoinedSpelling): string =>
  opaqueCursor(`${email}\n${spelling}`);

function readCursor(cursor: string): { email: string; spelling: string } {
  const [email = "", spelling = ""] = readOpaque(cursor, /^([^\n]+)\n(.+)$/s);
  return { email, spelling };
}
