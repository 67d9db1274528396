/* The requests about identities in short, for the tests of them. */
import assert from "node:assert/strict";
import type { Answer, TestWorkspace } from "../../../harness.ts";

export interface Note {
  readonly message: string;
  readonly code: string;
  readonly input_array: string;
  readonly index: number;
}

export interface IdentityAnswer {
  readonly message: string;
  readonly aliases_processed?: number;
  readonly deleted?: number;
  readonly errors?: readonly (Note & { readonly type: string })[];
  readonly skipped?: readonly Note[];
  readonly dry_run?: true;
  readonly results?: readonly Record<string, any>[];
}

type Sent = Promise<Answer<IdentityAnswer>>;

export const TIME = "2026-01-01T12:00:00.000Z";

export const LATEST = ["most_recently_updated"];

export const id = (external_id: string) => ({ external_id });

export const alias = (alias_name: string, alias_label = "l") => ({ alias_name, alias_label });

export const byAlias = (name: string, label?: string) => ({ user_alias: alias(name, label) });

export const byEmail = (email: string, prioritization: readonly string[] = LATEST) => ({
  email,
  prioritization,
});

export const byPhone = (phone: string, prioritization: readonly string[] = LATEST) => ({
  phone,
  prioritization,
});

export const newAliases = (workspace: TestWorkspace, ...user_aliases: object[]): Sent =>
  workspace.call("POST", "/users/alias/new", { user_aliases });

export const renameAliases = (workspace: TestWorkspace, ...alias_updates: object[]): Sent =>
  workspace.call("POST", "/users/alias/update", { alias_updates });

export const identify = (workspace: TestWorkspace, body: object): Sent =>
  workspace.call("POST", "/users/identify", body);

/** Lets alias-only users become identified, as pairs of alias and external_id. */
export const identifyAliases = (
  workspace: TestWorkspace,
  pairs: readonly (readonly [alias: string, externalId: string])[],
  more: object = {},
): Sent =>
  identify(workspace, {
    aliases_to_identify: pairs.map(([name, external_id]) => ({
      external_id,
      user_alias: alias(name),
    })),
    ...more,
  });

/** Merges pairs of identifiers, the first of each into the second. */
export const merge = (
  workspace: TestWorkspace,
  pairs: readonly (readonly [toMerge: object, toKeep: object])[],
  more: object = {},
): Sent =>
  workspace.call("POST", "/users/merge", {
    merge_updates: pairs.map(([identifier_to_merge, identifier_to_keep]) => ({
      identifier_to_merge,
      identifier_to_keep,
    })),
    ...more,
  });

export const remove = (workspace: TestWorkspace, body: object): Sent =>
  workspace.call("POST", "/users/delete", body);

/** Users, each with one event of the name of its external_id. */
export async function makeUsers(workspace: TestWorkspace, ...attributes: object[]): Promise<void> {
  const events = attributes.map((object) => {
    const { external_id, user_alias } = object as { external_id?: string; user_alias?: object };
    const name = external_id ?? (user_alias as { alias_name: string } | undefined)?.alias_name;
    return { ...(external_id ? { external_id } : { user_alias }), name, time: TIME };
  });
  const answer = await workspace.track({
    attributes: attributes.map((object) => ({ _update_existing_only: false, ...object })),
    events,
  });
  assert.equal(answer.body.errors, undefined, JSON.stringify(answer.body));
  assert.equal(answer.body.skipped, undefined, JSON.stringify(answer.body));
}

/** The one user with an external_id, or undefined. */
export async function userOf(
  workspace: TestWorkspace,
  external_id: string,
): Promise<Record<string, any> | undefined> {
  const users = await workspace.profiles({ external_ids: [external_id] });
  return users[0];
}

/** How often each event happened to a user. */
export const countsOf = (user: Record<string, any> | undefined): Record<string, number> =>
  Object.fromEntries(
    (user?.custom_events ?? []).map(({ name, count }: Record<string, any>) => [name, count]),
  );

/** The notes as `array index CODE`. */
export const notesOf = (notes: readonly Note[] | undefined): string[] =>
  (notes ?? []).map(({ input_array, index, code }) => `${input_array} ${index} ${code}`);

/** Asserts a success without skipped or refused items. */
export async function succeeds(sent: Sent): Promise<IdentityAnswer> {
  const { status, body } = await sent;
  assert.ok(status === 201 || status === 202, `${status} ${JSON.stringify(body)}`);
  assert.equal(body.message, "success");
  assert.deepEqual([body.errors, body.skipped], [undefined, undefined]);
  return body;
}

/** Asserts a success, and the skipped items. */
export async function skips(sent: Sent, ...notes: string[]): Promise<IdentityAnswer> {
  const { status, body } = await sent;
  assert.ok(status === 201 || status === 202, `${status} ${JSON.stringify(body)}`);
  assert.deepEqual(notesOf(body.skipped), notes);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body;
}

/** Asserts a refusal of the whole request. */
export async function refuses(sent: Sent, message: RegExp | string): Promise<IdentityAnswer> {
  const { status, body } = await sent;
  assert.equal(status, 400, JSON.stringify(body));
  if (typeof message === "string") assert.equal(body.message, message);
  else assert.match(body.message, message);
  return body;
}

export const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
