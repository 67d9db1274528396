import { Problem } from "../../core/base/problem.ts";
import type { EmailState } from "../../core/base/values/email-states.ts";
import type { GroupState } from "../../core/people/subscriptions/states.ts";
import { GLOBAL_FIELD, groupOfField } from "./fields.ts";

export interface Choices {
  /** RFC 8058: the mail program asks for it, on one click of its user. */
  readonly isOneClick: boolean;
  readonly emailState: EmailState | undefined;
  /** By group id. */
  readonly groupStates: ReadonlyMap<string, GroupState>;
}

/** In characters. A form with a hundred groups has some thousand. */
const LONGEST_FORM = 262_144;

/** Publicly known; `on` is sent by a ticked box that has no value. */
const EMAIL_STATES: Readonly<Record<string, EmailState>> = {
  on: "opted_in",
  opted_in: "opted_in",
  subscribed: "subscribed",
  unsubscribed: "unsubscribed",
};

const GROUP_STATES: Readonly<Record<string, GroupState>> = {
  on: "subscribed",
  subscribed: "subscribed",
  unsubscribed: "unsubscribed",
};

/**
 * Reads a form as a browser or a mail program sends it. If a field is repeated, the last value
 * counts; an empty value is no choice; other fields are ignored.
 *
 * @param contentType of the body: application/x-www-form-urlencoded or multipart/form-data.
 * @throws Problem INVALID_REQUEST, BODY_TOO_LARGE
 */
export async function readChoices(body: string, contentType: string): Promise<Choices> {
  if (body.length > LONGEST_FORM) throw new Problem("BODY_TOO_LARGE", "The form is too large.");
  const fields = await readFields(body, contentType);
  const groupStates = new Map<string, GroupState>();
  for (const [name, value] of fields) {
    const groupId = groupOfField(name);
    if (groupId !== undefined && value) groupStates.set(groupId, stateOf(GROUP_STATES, value));
  }
  const email = fields.get(GLOBAL_FIELD);
  return {
    isOneClick: fields.get("List-Unsubscribe") === "One-Click",
    emailState: email ? stateOf(EMAIL_STATES, email) : undefined,
    groupStates,
  };
}

/**
 * Whether a form looks like one of a mail program, without parsing it; only the rate limit depends
 * on this.
 */
export const saysOneClick = (body: string): boolean =>
  body.length < 2_048 && body.includes("List-Unsubscribe") && body.includes("One-Click");

async function readFields(body: string, contentType: string): Promise<Map<string, string>> {
  try {
    const headers = { "content-type": contentType };
    const form = await new Response(body, { headers }).formData();
    return new Map([...form].flatMap(([name, value]) => (isText(value) ? [[name, value]] : [])));
  } catch {
    throw new Problem("INVALID_REQUEST", "The form could not be read. Nothing was changed.");
  }
}

const isText = (value: unknown): value is string => typeof value === "string";

function stateOf<State>(states: Readonly<Record<string, State>>, value: string): State {
  const state = Object.hasOwn(states, value) ? states[value] : undefined;
  if (state !== undefined) return state;
  throw new Problem("INVALID_REQUEST", "The form has an unknown choice. Nothing was changed.");
}
