import { isDeepStrictEqual } from "node:util";
import Type from "typebox";
import type { Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { ClosedObject } from "../../base/values/schemas.ts";
import { parseTime } from "../../base/values/times.ts";
import type { Transaction } from "../../database/database.ts";
import { hashSecret, refuseShortSecret } from "../secrets/secrets.ts";
import {
  describe,
  difference,
  type Entry,
  type Resource,
  type ResourceServices,
} from "../workspaces/resource.ts";
import {
  type DeclaredCredential,
  selectCredentials,
  selectDeclared,
  type WithId,
} from "./credential-store.ts";
import {
  type CredentialKind,
  CredentialName,
  grantMembers,
  replaceDeclared,
} from "./credentials.ts";
import { API_KEYS } from "./keys.ts";
import { SCIM_TOKENS } from "./scim-tokens.ts";
import { selectCurrentHashes } from "./secret-store.ts";

/* API keys and SCIM tokens in the manifest. */

/** Characters that a header may contain after `Bearer`. */
const secret = (description: string) =>
  Type.String({ minLength: 1, maxLength: 255, pattern: "^\\S+$", description });

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

/** Whether a text is an ISO 8601 time with a zone: a time without one would be a local time. */
const isTimestamp = (text: string): boolean =>
  TIMESTAMP.test(text) && parseTime(text) !== undefined;

const PreviousUntil = Type.Refine(
  Type.String({ description: "Until when, as an ISO 8601 time with a zone." }),
  isTimestamp,
  () => "must be an ISO 8601 time with a zone",
);

function credentialResource<Grant, Where extends Context>(
  kind: CredentialKind<Grant, Where>,
  key: string,
  about: string,
): Resource<Where> {
  const { table, secretName, auditKind, ownerOf, membersOf } = kind;
  return {
    key,
    about,
    schema: ClosedObject({
      name: CredentialName,
      [secretName]: secret(
        "The secret that requests send as the bearer token. Only the secret's hash is stored.",
      ),
      ...grantMembers(kind),
      [`previous_${secretName}`]: Type.Optional(
        secret("The previous secret, which is valid until then."),
      ),
      [`previous_${secretName}_until`]: Type.Optional(PreviousUntil),
    }),
    identity: "name",
    async apply(tx, services, context, entries: readonly Entry[]) {
      const { clock, note } = services;
      const { id: ownerId, workspace } = ownerOf(context);
      const wanted = entries.map((entry) => declaredCredential(kind, entry, services));
      const declared = await selectDeclared(tx, table, ownerId);
      if (note) await noteDrift(tx, kind, wanted, declared, note);
      const present = declared.map(
        ({ id: _id, ...rest }) => rest as unknown as DeclaredCredential<Grant>,
      );
      const todo = difference(present, wanted, (each) => each.name);
      await replaceDeclared(tx, kind, { ownerId, now: clock.now(), newId: clock.newId }, todo);
      return describe(auditKind, workspace, todo, ({ name }) => name, membersOf);
    },
    async declaration(database, { secret }, context) {
      const { id, workspace } = ownerOf(context);
      const all = await selectCredentials(database, table, id);
      const words = workspace ? [auditKind, workspace] : [auditKind];
      return all
        .filter(({ revokedAt }) => !revokedAt)
        .map((each) => ({
          name: each.name,
          [secretName]: secret(...words, each.name),
          ...membersOf(each),
        }));
    },
  };
}

/** Notes the secrets that were rotated or revoked since, which the manifest leaves as they are. */
async function noteDrift<Grant>(
  tx: Transaction,
  { noun, secretName }: Pick<CredentialKind<Grant>, "noun" | "secretName">,
  wanted: readonly DeclaredCredential<Grant>[],
  declared: readonly WithId<DeclaredCredential<Grant>>[],
  note: (sentence: string) => void,
): Promise<void> {
  const current = await selectCurrentHashes(
    tx,
    declared.map(({ id }) => id),
  );
  for (const { id, name, secrets } of declared) {
    const same = wanted.find((each) => each.name === name);
    if (!same || !isDeepStrictEqual(same.secrets, secrets)) continue;
    const hash = current.get(id);
    if (hash === secrets[0]?.hash) continue;
    const what = hash === undefined ? "was revoked" : "was rotated outside the manifest";
    note(`The ${noun} '${name}' ${what}: the declared ${secretName} is not in effect.`);
  }
}

/**
 * A declared credential as stored, with hashes in place of its secrets.
 *
 * @param services the previous secret may be shorter than `shortestSecret`.
 * @throws Problem INVALID_REQUEST for a short secret, for an admin token, or for an incomplete
 * description of the previous secret.
 */
function declaredCredential<Grant>(
  { noun, secretName, grantOf, defaults }: CredentialKind<Grant>,
  entry: Entry,
  {
    shortestSecret,
    adminTokenHashes,
  }: Pick<ResourceServices, "shortestSecret" | "adminTokenHashes">,
): DeclaredCredential<Grant> {
  const name = entry.name as string;
  const current = entry[secretName] as string;
  refuseShortSecret(current, shortestSecret, `The ${secretName} of the ${noun} '${name}'`);
  const previous = entry[`previous_${secretName}`] as string | undefined;
  const until = entry[`previous_${secretName}_until`] as string | undefined;
  if ((previous === undefined) !== (until === undefined)) {
    const members = `both 'previous_${secretName}' and 'previous_${secretName}_until', or neither`;
    throw new Problem("INVALID_REQUEST", `The ${noun} '${name}' needs ${members}.`);
  }
  const secrets = [
    { hash: hashSecret(current), until: null },
    ...(previous !== undefined && until !== undefined
      ? [{ hash: hashSecret(previous), until: (parseTime(until) as Date).toISOString() }]
      : []),
  ];
  if (secrets.some(({ hash }) => adminTokenHashes.includes(hash))) {
    const rule = "is also an admin token, which may do everything. Generate another one";
    throw new Problem("INVALID_REQUEST", `The ${secretName} of the ${noun} '${name}' ${rule}.`);
  }
  return { name, ...grantOf({ ...defaults, ...entry }), secrets };
}

export const apiKeys = credentialResource(
  API_KEYS,
  "api_keys",
  "The API keys of the workspace. Read their secrets from the environment.",
);

export const scimTokens = credentialResource(
  SCIM_TOKENS,
  "scim_tokens",
  "The tokens that let identity providers manage dashboard users over SCIM.",
);
