import Type from "typebox";
import type { CompanyContext } from "../../base/context/context.ts";
import type { CredentialKind } from "./credentials.ts";

/** Where requests with a SCIM token come from. */
export interface TokenGrant {
  readonly serviceOrigin: string;
  /** Whether `X-Request-Origin` must hold it. */
  readonly requireOrigin: boolean;
}

/** SCIM tokens: each belongs to the company. */
export const SCIM_TOKENS: CredentialKind<TokenGrant, CompanyContext> = {
  table: {
    name: "scim_tokens",
    id: "token_id",
    owner: "company_id",
    grant: {
      serviceOrigin: {
        column: "service_origin",
        read: "service_origin",
        write: "new.granted::jsonb->>'serviceOrigin'",
      },
      requireOrigin: {
        column: "require_origin",
        read: "require_origin",
        write: "(new.granted::jsonb->>'requireOrigin')::boolean",
      },
    },
  },
  noun: "SCIM token",
  belongs: "of the company",
  prefix: "scim",
  secretName: "token",
  auditKind: "scim_token",
  ownerOf: ({ company }) => ({ id: company.id, workspace: "" }),
  members: {
    service_origin: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "The required value of X-Request-Origin.",
    }),
    require_origin: Type.Boolean({
      description: "false for identity providers that cannot send custom headers.",
    }),
  },
  defaults: { require_origin: true },
  grantOf: ({ service_origin, require_origin }) =>
    ({ serviceOrigin: service_origin, requireOrigin: require_origin }) as TokenGrant,
  membersOf: ({ serviceOrigin, requireOrigin }) => ({
    service_origin: serviceOrigin,
    require_origin: requireOrigin,
  }),
};
