import Type from "typebox";
import type { KeyGrant } from "../access/keys.ts";
import { PERMISSIONS } from "../access/permissions.ts";
import { isAllowlistEntry } from "../ip-allowlist.ts";

/* How a manifest and the admin API write what an API key may do. */

export const KeyPermissions = Type.Array(Type.Enum(["all", ...PERMISSIONS]));

export const IpAllowlist = Type.Array(
  Type.Refine(Type.String(), isAllowlistEntry, () => "must be an IP address or CIDR"),
);

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

/** Whether a text is an ISO 8601 time with a zone: a time without one would be somebody's local. */
export const isTimestamp = (text: string): boolean =>
  TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text));

/** What an audit entry says of a key. */
export const grantDetails = ({ permissions, ipAllowlist }: KeyGrant) => ({
  permissions,
  ip_allowlist: ipAllowlist,
});
