import Type, { type Static } from "typebox";
import { byAdministratorOfWorkspace, endpoint } from "../http/endpoint.ts";
import {
  CredentialName,
  DEFAULT_OVERLAP_SECONDS,
  IpAllowlist,
  KeyPermissions,
  lifeMembers,
  lifeOf,
  OverlapEnd,
  overlapEndOf,
  RotationBody,
  SECRET_HEADERS,
  ShownOnce,
} from "./credential-form.ts";
import type { CredentialView } from "./credentials.ts";
import type { KeyGrant } from "./keys.ts";
import {
  type CredentialServices,
  changeCredential,
  createCredential,
  keysOf,
  listCredentials,
  revokeCredential,
  rotateCredential,
} from "./manage-credentials.ts";

const Success = Type.Literal("success");

const ApiKey = Type.Object({
  name: Type.String(),
  permissions: Type.Array(Type.String()),
  ip_allowlist: Type.Array(Type.String()),
  previous_key_until: OverlapEnd,
  ...lifeMembers,
});

const viewOf = (key: CredentialView<KeyGrant>): Static<typeof ApiKey> => ({
  name: key.name,
  permissions: [...key.permissions],
  ip_allowlist: [...key.ipAllowlist],
  previous_key_until: overlapEndOf(key),
  ...lifeOf(key),
});

const OfWorkspace = Type.Object({ name: Type.String() });

const OfKey = Type.Object({ name: Type.String(), key: Type.String() });

const listEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/api-keys",
  summary: "Lists the API keys of a workspace, including revoked ones.",
  access: byAdministratorOfWorkspace("dev_console"),
  params: OfWorkspace,
  replies: { 200: Type.Object({ api_keys: Type.Array(ApiKey), message: Success }) },
}).handledBy(async (services: CredentialServices, context) => {
  const keys = await listCredentials(services, keysOf(context));
  return { status: 200, body: { api_keys: keys.map(viewOf), message: "success" } };
});

const createEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/api-keys",
  summary: "Creates an API key and shows its secret once.",
  access: byAdministratorOfWorkspace("admin"),
  params: OfWorkspace,
  body: Type.Object(
    {
      name: CredentialName,
      permissions: KeyPermissions,
      ip_allowlist: Type.Optional(IpAllowlist),
    },
    { additionalProperties: false },
  ),
  replies: { 201: Type.Object({ name: Type.String(), key: ShownOnce, message: Success }) },
}).handledBy(async (services: CredentialServices, context, { body }) => {
  const { name, permissions, ip_allowlist = [] } = body;
  const grant = { permissions, ipAllowlist: ip_allowlist };
  const key = await createCredential(services, keysOf(context), context, name, grant);
  return { status: 201, body: { name, key, message: "success" }, headers: SECRET_HEADERS };
});

const rotateEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/api-keys/:key/rotate",
  summary:
    "Gives an API key a new secret, shown once; the previous one stays valid for an overlap.",
  access: byAdministratorOfWorkspace("admin"),
  params: OfKey,
  body: RotationBody,
  replies: {
    200: Type.Object({
      name: Type.String(),
      key: ShownOnce,
      previous_key_until: Type.String(),
      message: Success,
    }),
  },
}).handledBy(async (services: CredentialServices, context, { params, body }) => {
  const { secret, overlapUntil } = await rotateCredential(
    services,
    keysOf(context),
    context,
    params.key,
    body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS,
  );
  return {
    status: 200,
    body: {
      name: params.key,
      key: secret,
      previous_key_until: overlapUntil.toISOString(),
      message: "success",
    },
    headers: SECRET_HEADERS,
  };
});

const changeEndpoint = endpoint({
  method: "PUT",
  path: "/admin/v1/workspaces/:name/api-keys/:key",
  summary: "Changes the permissions and allowed addresses of an API key; its secret stays.",
  access: byAdministratorOfWorkspace("admin"),
  params: OfKey,
  body: Type.Object(
    { permissions: KeyPermissions, ip_allowlist: IpAllowlist },
    { additionalProperties: false },
  ),
  replies: { 200: Type.Object({ message: Success }) },
}).handledBy(async (services: CredentialServices, context, { params, body }) => {
  const grant = { permissions: body.permissions, ipAllowlist: body.ip_allowlist };
  await changeCredential(services, keysOf(context), context, params.key, grant);
  return { status: 200, body: { message: "success" } };
});

const revokeEndpoint = endpoint({
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/api-keys/:key",
  summary: "Revokes an API key: its secrets stop working for good.",
  access: byAdministratorOfWorkspace("admin"),
  params: OfKey,
  replies: { 200: Type.Object({ message: Success }) },
}).handledBy(async (services: CredentialServices, context, { params }) => {
  await revokeCredential(services, keysOf(context), context, params.key);
  return { status: 200, body: { message: "success" } };
});

export const apiKeyEndpoints = [
  listEndpoint,
  createEndpoint,
  rotateEndpoint,
  changeEndpoint,
  revokeEndpoint,
];
