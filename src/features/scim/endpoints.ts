import Type, { type TSchema } from "typebox";
import type { JsonObject } from "../../core/base/values/plain-json.ts";
import { ClosedObject, named } from "../../core/base/values/schemas.ts";
import { byScimToken, type Contract, endpoint } from "../../core/http/endpoint.ts";
import type { UserServices } from "../dashboard-users/feature.ts";
import { openDirectory } from "./company-directory.ts";
import { type Attribute, RESOURCE_ATTRIBUTES } from "./protocol/attributes.ts";
import {
  getAbout,
  listAbout,
  refuseFilter,
  SERVICE_PROVIDER_CONFIG,
} from "./protocol/discovery.ts";
import { SCIM_ROOT } from "./protocol/list-response.ts";
import { USERS_PATH } from "./protocol/user-view.ts";
import {
  createUser,
  deleteUser,
  getUser,
  listUsers,
  patchUser,
  replaceUser,
} from "./protocol/users.ts";
import { NewScimUser, PatchScimUser, ReplacedScimUser } from "./user-schemas.ts";

/** Replies follow from the table of attributes; every member is optional, because a request may omit it. */
const shape = (attribute: Attribute): TSchema => {
  const one = attribute.subAttributes
    ? objectOf(attribute.subAttributes)
    : attribute.type === "boolean"
      ? Type.Boolean()
      : Type.String();
  const { description } = attribute;
  return attribute.multiValued ? Type.Array(one, { description }) : { ...one, description };
};

const objectOf = (attributes: readonly Attribute[]) =>
  ClosedObject(
    Object.fromEntries(attributes.map((each) => [each.name, Type.Optional(shape(each))])),
  );

const User: TSchema = ClosedObject(
  {
    ...objectOf(RESOURCE_ATTRIBUTES).properties,
    schemas: Type.Array(Type.String()),
    id: Type.String(),
  },
  { title: "ScimUser", description: "A dashboard user." },
);

const listOf = (resource: TSchema): TSchema =>
  Type.Object({
    schemas: Type.Array(Type.String()),
    totalResults: Type.Integer({ minimum: 0 }),
    startIndex: Type.Integer({ minimum: 1 }),
    itemsPerPage: Type.Integer({ minimum: 0 }),
    Resources: Type.Array(resource),
  });

const ListReply = listOf(User);

/** A resource about the server. */
const About: TSchema = named("AboutScim", { schemas: Type.Array(Type.String()) });

const SCIM = { access: byScimToken, dialect: "scim" } as const satisfies Partial<Contract>;

const params = Type.Object({ id: Type.String() });

const selection = {
  attributes: Type.Optional(Type.String({ description: "The attributes to return." })),
  excludedAttributes: Type.Optional(Type.String({ description: "The attributes to omit." })),
};

/** The protocol reads bodies itself, because it accepts names in any case. */
const bodyOf = (describes: TSchema) => Type.Unsafe<JsonObject>(Type.Object({}, { describes }));

const ALL_USERS = [USERS_PATH, `${USERS_PATH}/`] as const;

const one = { ...SCIM, path: `${USERS_PATH}/:id`, params } as const;
const shown = { ...one, query: Type.Object(selection) } as const;

const create = endpoint({
  name: "createDashboardUser",
  ...SCIM,
  method: "POST",
  path: ALL_USERS,
  summary: "Creates a dashboard user.",
  query: Type.Object(selection),
  body: bodyOf(NewScimUser),
  replies: { 201: User },
}).handledBy(async (services: UserServices, context, { body, query }) => {
  const user = await createUser(openDirectory(services, context), body, query);
  return { status: 201, body: user, headers: { location: `${USERS_PATH}/${user.id}` } };
});

const list = endpoint({
  name: "listDashboardUsers",
  ...SCIM,
  method: "GET",
  path: ALL_USERS,
  summary: "Lists dashboard users, all or filtered, page by page.",
  query: Type.Object({
    ...selection,
    filter: Type.Optional(Type.String({ description: 'Such as userName eq "ada@acme.example".' })),
    startIndex: Type.Optional(
      Type.Integer({ description: "The first result of the page, from 1." }),
    ),
    count: Type.Optional(Type.Integer({ description: "Results per page." })),
  }),
  replies: { 200: ListReply },
}).handledBy(async (services: UserServices, context, { query }) => ({
  status: 200,
  body: await listUsers(openDirectory(services, context), query),
}));

const get = endpoint({
  name: "getDashboardUser",
  ...shown,
  method: "GET",
  summary: "Reads a dashboard user.",
  replies: { 200: User },
}).handledBy(async (services: UserServices, context, { params, query }) => ({
  status: 200,
  body: await getUser(openDirectory(services, context), params.id, query),
}));

const replace = endpoint({
  name: "replaceDashboardUser",
  ...shown,
  method: "PUT",
  summary: "Replaces a dashboard user; the userName stays.",
  body: bodyOf(ReplacedScimUser),
  replies: { 200: User },
}).handledBy(async (services: UserServices, context, { params, query, body }) => ({
  status: 200,
  body: await replaceUser(openDirectory(services, context), params.id, body, query),
}));

const patch = endpoint({
  name: "patchDashboardUser",
  ...shown,
  method: "PATCH",
  summary: "Changes single attributes of a dashboard user.",
  body: bodyOf(PatchScimUser),
  replies: { 200: User },
}).handledBy(async (services: UserServices, context, { params, query, body }) => ({
  status: 200,
  body: await patchUser(openDirectory(services, context), params.id, body, query),
}));

const remove = endpoint({
  name: "deleteDashboardUser",
  ...one,
  method: "DELETE",
  summary: "Removes a dashboard user.",
  replies: { 204: Type.Undefined() },
}).handledBy(async (services: UserServices, context, { params }) => {
  await deleteUser(openDirectory(services, context), params.id);
  return { status: 204, body: undefined };
});

const unfiltered = Type.Object({ filter: Type.Optional(Type.String()) });

const serviceProviderConfig = endpoint({
  name: "getScimConfiguration",
  ...SCIM,
  method: "GET",
  path: `${SCIM_ROOT}/ServiceProviderConfig`,
  summary: "The features of SCIM 2.0 that the server supports.",
  query: unfiltered,
  replies: { 200: About },
}).handledBy(async (_services: object, _context, { query }) => {
  refuseFilter(query);
  return { status: 200, body: SERVICE_PROVIDER_CONFIG };
});

const collection = (name: "ResourceTypes" | "Schemas", summary: string) => [
  endpoint({
    name: `listScim${name}`,
    ...SCIM,
    method: "GET",
    path: `${SCIM_ROOT}/${name}`,
    summary,
    query: unfiltered,
    replies: { 200: listOf(About) },
  }).handledBy(async (_services: object, _context, { query }) => {
    refuseFilter(query);
    return { status: 200, body: listAbout(name) };
  }),
  endpoint({
    name: `getScim${name.slice(0, -1)}`,
    ...SCIM,
    method: "GET",
    path: `${SCIM_ROOT}/${name}/:id`,
    summary: `Reads one of ${SCIM_ROOT}/${name}.`,
    params,
    replies: { 200: About },
  }).handledBy(async (_services: object, _context, { params }) => ({
    status: 200,
    body: getAbout(name, params.id),
  })),
];

export const scimEndpoints = [
  create,
  list,
  get,
  replace,
  patch,
  remove,
  serviceProviderConfig,
  ...collection("ResourceTypes", "The kinds of resources: users."),
  ...collection("Schemas", "The attributes of a user."),
];
