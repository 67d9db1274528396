import Type, { type TProperties } from "typebox";
import type { CredentialKind } from "./credentials.ts";

/* How a manifest and the admin API write API keys and SCIM tokens. */

export const CredentialName = Type.String({ minLength: 1, maxLength: 255 });

/** The members of a grant; those with a default may be omitted. */
export const grantMembers = <Grant>({ members, defaults }: CredentialKind<Grant>): TProperties =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [
      name,
      name in defaults ? Type.Optional(schema) : schema,
    ]),
  );
