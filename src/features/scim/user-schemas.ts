import Type, { type TSchema } from "typebox";
import { Text } from "../../core/base/values/schemas.ts";
import { type Attribute, USER_ATTRIBUTES, USER_SCHEMA } from "./protocol/attributes.ts";

/*
 * The bodies of SCIM requests for the documentation. The protocol reads bodies itself, because names are
 * accepted in any case; both follow from the table of attributes.
 */

const one = (attribute: Attribute): TSchema => {
  const { description, canonicalValues } = attribute;
  if (attribute.subAttributes)
    return Type.Object(membersOf(attribute.subAttributes), { description });
  if (attribute.type === "boolean") return Type.Boolean({ description });
  return canonicalValues
    ? Type.Enum([...canonicalValues], { description })
    : Type.String({ description });
};

const shape = (attribute: Attribute): TSchema =>
  attribute.multiValued
    ? Type.Array(one(attribute), { description: attribute.description })
    : one(attribute);

function membersOf(attributes: readonly Attribute[]): Record<string, TSchema> {
  return Object.fromEntries(
    attributes
      .filter(({ mutability }) => mutability !== "readOnly")
      .map((each) => [each.name, isRequired(each) ? shape(each) : Type.Optional(shape(each))]),
  );
}

/** `active` is true if it is omitted. */
const isRequired = ({ required, type }: Attribute): boolean => required && type !== "boolean";

const schemas = (urn: string) =>
  Type.Array(Type.String(), { description: `Must contain \`${urn}\`.`, examples: [[urn]] });

const externalId = Type.Optional(
  Text("The id that the identity provider has for the user.", "00u1ada"),
);

const members = membersOf(USER_ATTRIBUTES);

const EXAMPLE = {
  schemas: [USER_SCHEMA],
  name: { givenName: "Ada", familyName: "Lovelace" },
  department: "engineering",
  permissions: { companyPermissions: ["manage_company_settings"], appGroup: [] },
};

/** spec: Dashboard user (SCIM). */
export const NewScimUser = Type.Object(
  { schemas: schemas(USER_SCHEMA), externalId, ...members },
  {
    title: "NewScimUser",
    description: "A dashboard user to create. Names of members are accepted in any case.",
    examples: [{ ...EXAMPLE, userName: "ada@acme.example" }],
  },
);

export const ReplacedScimUser = Type.Object(
  {
    schemas: schemas(USER_SCHEMA),
    externalId,
    ...members,
    userName: Type.Optional(members.userName as TSchema),
  },
  {
    title: "ReplacedScimUser",
    description: "The new state of a dashboard user. The userName stays.",
    examples: [EXAMPLE],
  },
);

export const PatchScimUser = Type.Object(
  {
    schemas: schemas("urn:ietf:params:scim:api:messages:2.0:PatchOp"),
    Operations: Type.Array(
      Type.Object(
        {
          op: Type.Enum(["add", "replace", "remove"], { description: "In any case." }),
          path: Type.Optional(
            Text(
              "The attribute; without one `value` is an object of attributes.",
              "name.givenName",
              { minLength: 1 },
            ),
          ),
          value: Type.Optional(
            Type.Unknown({ description: "The new value; not for `remove`.", examples: ["Grace"] }),
          ),
        },
        { title: "ScimPatchOperation", description: "One change." },
      ),
      { minItems: 1, maxItems: 100, description: "The changes, in order. All apply or none." },
    ),
  },
  {
    title: "ScimPatch",
    description: "Changes single attributes. RFC 7644, 3.5.2.",
    examples: [
      {
        schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        Operations: [{ op: "replace", path: "active", value: false }],
      },
    ],
  },
);
