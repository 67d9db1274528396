import {
  COMPANY_PERMISSIONS,
  TEAM_PERMISSIONS,
  WORKSPACE_PERMISSIONS,
} from "../../../core/base/context/dashboard-permissions.ts";
import { DEPARTMENTS } from "../../dashboard-users/feature.ts";

/*
 * The dashboard user as a SCIM resource: one table of the stored attributes, in the terms of RFC 7643, 7.
 * Reading bodies, filters, PATCH and `/Schemas` all follow from it.
 *
 * The specification puts department, permissions and lastSignInAt into the core schema, and permissions has
 * more levels than RFC 7643 allows.
 */

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";

export interface Attribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "dateTime" | "reference" | "complex";
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  /** Whether case matters in comparisons. */
  readonly caseExact: boolean;
  /** If present, no other value is accepted. */
  readonly canonicalValues?: readonly string[];
  readonly mutability: "readOnly" | "immutable" | "readWrite";
  readonly returned: "always" | "default";
  readonly uniqueness: "none" | "server";
  readonly subAttributes?: readonly Attribute[];
}

type Traits = Partial<Omit<Attribute, "name" | "description">>;

const attribute = (name: string, description: string, traits: Traits = {}): Attribute => ({
  name,
  type: traits.subAttributes ? "complex" : "string",
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...traits,
});

const team = attribute("team", "Teams of the workspace.", {
  multiValued: true,
  subAttributes: [
    attribute("teamId", "The team's id.", { mutability: "readOnly", caseExact: true }),
    attribute("teamName", "The team's name.", { required: true, caseExact: true }),
    attribute("teamPermissions", "The user's permissions in the team.", {
      multiValued: true,
      caseExact: true,
      canonicalValues: TEAM_PERMISSIONS,
    }),
  ],
});

const appGroup = attribute("appGroup", "Workspaces that the user may enter.", {
  multiValued: true,
  subAttributes: [
    attribute("appGroupId", "The workspace's id.", { mutability: "readOnly", caseExact: true }),
    attribute("appGroupName", "The workspace's name.", { required: true, caseExact: true }),
    attribute("appGroupPermissions", "The user's permissions in the workspace.", {
      multiValued: true,
      caseExact: true,
      canonicalValues: WORKSPACE_PERMISSIONS,
    }),
    team,
    attribute("appGroupPermissionSets", "Permission sets of the user in the workspace.", {
      multiValued: true,
      subAttributes: [
        attribute("appGroupPermissionSetName", "The permission set's name.", {
          required: true,
          caseExact: true,
        }),
      ],
    }),
  ],
});

/** spec: Dashboard user (SCIM); RFC 7643, 4.1, for the others. */
export const USER_ATTRIBUTES: readonly Attribute[] = [
  attribute("userName", "The user's email address. It cannot be changed.", {
    required: true,
    mutability: "immutable",
    uniqueness: "server",
  }),
  attribute("name", "The user's name.", {
    required: true,
    subAttributes: [
      // Both are optional by RFC 7643, 4.1.1: some people have one name.
      attribute("givenName", "The given name."),
      attribute("familyName", "The family name."),
    ],
  }),
  attribute("displayName", "The name to show."),
  attribute("active", "Whether the user may sign in; true by default.", {
    type: "boolean",
    required: true,
  }),
  attribute("emails", "Email addresses.", {
    multiValued: true,
    subAttributes: [
      attribute("value", "The address."),
      attribute("display", "The address to show."),
      attribute("type", "The kind of address, such as work or home."),
      attribute("primary", "Whether it is the preferred one.", { type: "boolean" }),
    ],
  }),
  attribute("department", "The user's department.", {
    required: true,
    canonicalValues: DEPARTMENTS,
  }),
  attribute("permissions", "The user's permissions.", {
    required: true,
    subAttributes: [
      attribute("companyPermissions", "The user's permissions in the company.", {
        multiValued: true,
        caseExact: true,
        canonicalValues: COMPANY_PERMISSIONS,
      }),
      appGroup,
    ],
  }),
  attribute("lastSignInAt", "The last successful sign-in, UTC.", { mutability: "readOnly" }),
];

/** RFC 7643, 3.1: what every resource has; it is in no schema. */
const COMMON_ATTRIBUTES: readonly Attribute[] = [
  attribute("schemas", "The schemas of the resource.", {
    type: "reference",
    multiValued: true,
    mutability: "readOnly",
    returned: "always",
  }),
  attribute("id", "The user's id.", {
    caseExact: true,
    mutability: "readOnly",
    returned: "always",
    uniqueness: "server",
  }),
  attribute("externalId", "The id that the identity provider has for the user.", {
    caseExact: true,
  }),
  attribute("meta", "About the resource.", {
    mutability: "readOnly",
    subAttributes: [
      attribute("resourceType", "User.", { mutability: "readOnly", caseExact: true }),
      attribute("created", "When it was created.", { type: "dateTime", mutability: "readOnly" }),
      attribute("lastModified", "When it last changed.", {
        type: "dateTime",
        mutability: "readOnly",
      }),
      attribute("location", "Where it is.", {
        type: "reference",
        mutability: "readOnly",
        caseExact: true,
      }),
    ],
  }),
];

/** Every attribute that a response may contain. */
export const RESOURCE_ATTRIBUTES: readonly Attribute[] = [...COMMON_ATTRIBUTES, ...USER_ATTRIBUTES];

/** Computed when a user is shown, so that filters cannot use them. */
export const UNSEARCHABLE: ReadonlySet<string> = new Set([
  "lastSignInAt",
  "permissions.appGroup.appGroupId",
  "permissions.appGroup.team.teamId",
]);

/**
 * Attributes of RFC 7643 that are not stored, in lower case. Identity providers send them with every user;
 * in a body they are ignored, as the response shows. Extensions are not stored either.
 */
const NOT_KEPT: ReadonlySet<string> = new Set([
  "addresses",
  "entitlements",
  "groups",
  "ims",
  "locale",
  "name.formatted",
  "name.honorificprefix",
  "name.honorificsuffix",
  "name.middlename",
  "nickname",
  "password",
  "phonenumbers",
  "photos",
  "preferredlanguage",
  "profileurl",
  "roles",
  "timezone",
  "title",
  "usertype",
  "x509certificates",
]);

/** Whether a name of a member is the schema's own: RFC 7644, 3.10, writes attributes below it, too. */
export const isUserSchema = (name: string): boolean =>
  name.toLowerCase() === USER_SCHEMA.toLowerCase();

export function findAttribute(
  attributes: readonly Attribute[] | undefined,
  name: string,
): Attribute | undefined {
  if (!attributes) return undefined;
  const byName = INDEXES.get(attributes) ?? indexOf(attributes);
  return byName.get(name.toLowerCase());
}

/** A cache for each list of attributes, because bodies have thousands of names. */
const INDEXES = new WeakMap<readonly Attribute[], ReadonlyMap<string, Attribute>>();

function indexOf(attributes: readonly Attribute[]): ReadonlyMap<string, Attribute> {
  const byName = new Map(attributes.map((each) => [each.name.toLowerCase(), each]));
  INDEXES.set(attributes, byName);
  return byName;
}

/** Whether a path names a known attribute that is not stored: see `NOT_KEPT`. */
export function isNotKept(schema: string | undefined, names: readonly string[]): boolean {
  if (schema !== undefined && schema !== USER_SCHEMA.toLowerCase()) return true;
  const lower = names.map((name) => name.toLowerCase());
  return NOT_KEPT.has(lower[0] ?? "") || NOT_KEPT.has(lower.slice(0, 2).join("."));
}
