import Type from "typebox";
import { CAPTURED_PERMISSIONS, PERMISSIONS } from "../context/permissions.ts";
import { Problem } from "../problem.ts";
import type { CredentialView, DeclaredSecrets } from "./credentials.ts";
import { isAllowlistEntry } from "./ip-allowlist.ts";
import type { KeyGrant } from "./keys.ts";
import type { TokenGrant } from "./scim-tokens.ts";
import { refuseShortSecret } from "./secrets.ts";

/* How a manifest and the admin API write API keys and SCIM tokens. */

export const CredentialName = Type.String({ minLength: 1, maxLength: 255 });

export const KeyPermissions = Type.Array(
  Type.Enum(["all", ...PERMISSIONS, ...CAPTURED_PERMISSIONS]),
  {
    description: "What the key may do: all, or a list of permissions.",
  },
);

export const IpAllowlist = Type.Array(
  Type.Refine(Type.String(), isAllowlistEntry, () => "must be an IP address or CIDR"),
  {
    description: "Addresses and CIDR blocks that the key may be used from; empty means everywhere.",
  },
);

export const ServiceOrigin = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The required value of X-Request-Origin.",
});

export const RequireOrigin = Type.Boolean({
  description: "false for identity providers that cannot send custom headers.",
});

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

/** Whether a text is an ISO 8601 time with a zone: a time without one would be a local time. */
const isTimestamp = (text: string): boolean =>
  TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text));

/** What a header can hold after `Bearer`. */
export const Secret = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "^\\S+$",
  description: "What requests send as the bearer token. Only its hash is stored.",
});

export const PreviousSecret = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "^\\S+$",
  description: "The previous secret, which is valid until then.",
});

export const PreviousUntil = Type.Refine(
  Type.String({ description: "Until when, as an ISO 8601 time with a zone." }),
  isTimestamp,
  () => "must be an ISO 8601 time with a zone",
);

/**
 * The secrets of a declared credential.
 *
 * @param what how a refusal calls it, and the members: `key`, `previous_key` and `previous_key_until`.
 * @param shortest how many characters a secret needs; one that is being replaced may be shorter.
 * @throws Problem INVALID_REQUEST for a short secret, or half of what describes the previous one.
 */
export function declaredSecrets(
  what: { readonly name: string; readonly noun: string; readonly member: "key" | "token" },
  current: string,
  previous: string | undefined,
  until: string | undefined,
  shortest: number,
): DeclaredSecrets {
  refuseShortSecret(current, shortest, `The ${what.member} of the ${what.noun} '${what.name}'`);
  if (previous === undefined && until === undefined) return { current, previous: undefined };
  if (previous !== undefined && until !== undefined) {
    return { current, previous: { secret: previous, until: new Date(until) } };
  }
  const members = `both 'previous_${what.member}' and 'previous_${what.member}_until', or neither`;
  throw new Problem("INVALID_REQUEST", `The ${what.noun} '${what.name}' needs ${members}.`);
}

/** What an audit entry says of a key. */
export const keyDetails = ({ permissions, ipAllowlist }: KeyGrant) => ({
  permissions,
  ip_allowlist: ipAllowlist,
});

/** What an audit entry says of a token. */
export const tokenDetails = ({ serviceOrigin, requireOrigin }: TokenGrant) => ({
  service_origin: serviceOrigin,
  require_origin: requireOrigin,
});

/* In the admin API. */

const NullableTime = Type.Union([Type.String(), Type.Null()]);

/** What a list shows of every credential, whatever it grants. */
export const lifeMembers = {
  declared: Type.Boolean({ description: "Whether a manifest declared it." }),
  created_at: Type.String(),
  last_seen_at: Type.Union([Type.String(), Type.Null()], {
    description: "When it was last used, to the minute.",
  }),
  revoked_at: NullableTime,
};

export const lifeOf = (each: CredentialView<unknown>) => ({
  declared: each.declared,
  created_at: each.createdAt.toISOString(),
  last_seen_at: each.lastSeenAt?.toISOString() ?? null,
  revoked_at: each.revokedAt?.toISOString() ?? null,
});

export const OverlapEnd = Type.Union([Type.String(), Type.Null()], {
  description: "While two secrets are valid: when the previous one expires.",
});

export const overlapEndOf = (each: CredentialView<unknown>): string | null =>
  each.overlapUntil?.toISOString() ?? null;

const DAY_SECONDS = 24 * 3_600;

/** How long the older secret of a rotated credential works by default: time to deploy. */
export const DEFAULT_OVERLAP_SECONDS = DAY_SECONDS;

const LONGEST_OVERLAP_SECONDS = 90 * DAY_SECONDS;

export const RotationBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LONGEST_OVERLAP_SECONDS,
        default: DEFAULT_OVERLAP_SECONDS,
      }),
    ),
  },
  { additionalProperties: false },
);

export const ShownOnce = Type.String({
  description: "The secret. It is shown once: only its hash is stored.",
});

/** A secret in an answer is for the caller alone. */
export const SECRET_HEADERS = { "cache-control": "no-store" };
