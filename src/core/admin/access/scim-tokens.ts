import Type from "typebox";
import type { CompanyContext } from "../../base/context/context.ts";
import {
  COMPANY_PERMISSIONS,
  type CompanyPermission,
} from "../../base/context/dashboard-permissions.ts";
import { distinctList } from "../../base/values/schemas.ts";
import { textArray } from "./credential-store.ts";
import type { CredentialKind } from "./credentials.ts";

/** The required origin of requests with a SCIM token, and the permissions they may grant. */
export interface TokenGrant {
  readonly serviceOrigin: string;
  /** Whether `X-Request-Origin` must hold it. */
  readonly requireOrigin: boolean;
  /** Which permissions in the company its users may be given. */
  readonly companyPermissions: readonly CompanyPermission[];
}

/**
 * Permissions that a token may grant by default: those that requests in the specification grant.
 * `admin` would make anyone with the token an administrator (docs/decisions/scim.md).
 */
const USUAL_COMPANY_PERMISSIONS: readonly CompanyPermission[] = ["manage_company_settings"];

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
      companyPermissions: textArray("company_permissions", "companyPermissions"),
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
    company_permissions: Type.Optional(
      distinctList(Type.Enum([...COMPANY_PERMISSIONS]), {
        maxItems: COMPANY_PERMISSIONS.length,
        description:
          "The permissions in the company that users may be given with the token; by default manage_company_settings. With `admin` the token can do as much as the admin token.",
      }),
    ),
  },
  defaults: { require_origin: true },
  grantOf: ({ service_origin, require_origin, company_permissions = USUAL_COMPANY_PERMISSIONS }) =>
    ({
      serviceOrigin: service_origin,
      requireOrigin: require_origin,
      companyPermissions: company_permissions,
    }) as TokenGrant,
  membersOf: ({ serviceOrigin, requireOrigin, companyPermissions }) => ({
    service_origin: serviceOrigin,
    require_origin: requireOrigin,
    company_permissions: companyPermissions,
  }),
};
