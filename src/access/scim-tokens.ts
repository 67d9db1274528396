import type { CredentialKind } from "./credentials.ts";

/** Where requests with a SCIM token come from. */
export interface TokenGrant {
  readonly serviceOrigin: string;
  /** Whether `X-Request-Origin` has to say so. */
  readonly requireOrigin: boolean;
}

/** SCIM tokens: each belongs to the company. */
export const SCIM_TOKENS: CredentialKind<TokenGrant> = {
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
};
