import Type, { type Static } from "typebox";
import type { KeyView } from "../access/keys.ts";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, endpoint } from "../http/endpoint.ts";
import { IpAllowlist, KeyPermissions } from "./api-key-form.ts";
import {
  changeKey,
  createKey,
  type KeyServices,
  listKeys,
  revokeKey,
  rotateKey,
} from "./api-keys.ts";

const Success = Type.Literal("success");

const DAY_SECONDS = 24 * 3_600;

/** How long the older secret of a rotated key stays good where nobody says: time to deploy. */
const DEFAULT_OVERLAP_SECONDS = DAY_SECONDS;

const LONGEST_OVERLAP_SECONDS = 90 * DAY_SECONDS;

const NullableTime = Type.Union([Type.String(), Type.Null()]);

const ApiKey = Type.Object({
  name: Type.String(),
  permissions: Type.Array(Type.String()),
  ip_allowlist: Type.Array(Type.String()),
  declared: Type.Boolean({ description: "Whether a manifest declared it." }),
  created_at: Type.String(),
  last_seen_at: Type.Union([Type.String(), Type.Null()], {
    description: "When it was last used, to the minute.",
  }),
  previous_key_until: Type.Union([Type.String(), Type.Null()], {
    description: "While two secrets open it: when the older one stops.",
  }),
  revoked_at: NullableTime,
});

const viewOf = (key: KeyView): Static<typeof ApiKey> => ({
  name: key.name,
  permissions: [...key.permissions],
  ip_allowlist: [...key.ipAllowlist],
  declared: key.declared,
  created_at: key.createdAt.toISOString(),
  last_seen_at: key.lastSeenAt?.toISOString() ?? null,
  previous_key_until: key.overlapUntil?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

const ShownOnce = Type.String({
  description: "The secret. It is shown once: only a hash is kept.",
});

/** A secret in an answer is for the caller alone. */
const SECRET_HEADERS = { "cache-control": "no-store" };

const OfWorkspace = Type.Object({ name: Type.String() });

const OfKey = Type.Object({ name: Type.String(), key: Type.String() });

const listEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/api-keys",
  summary: "Lists the API keys of a workspace, revoked ones too.",
  access: byAdministrator,
  params: OfWorkspace,
  replies: { 200: Type.Object({ api_keys: Type.Array(ApiKey), message: Success }) },
}).handledBy(async (services: KeyServices, _nobody, { params }) => {
  const keys = await listKeys(services, params.name);
  return { status: 200, body: { api_keys: keys.map(viewOf), message: "success" } };
});

const createEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/api-keys",
  summary: "Makes an API key and shows its secret, once.",
  access: byAdministrator,
  params: OfWorkspace,
  body: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 255 }),
      permissions: KeyPermissions,
      ip_allowlist: Type.Optional(IpAllowlist),
    },
    { additionalProperties: false },
  ),
  replies: { 201: Type.Object({ name: Type.String(), key: ShownOnce, message: Success }) },
}).handledBy(async (services: KeyServices, _nobody, { params, body, call }) => {
  const { name, permissions, ip_allowlist = [] } = body;
  const wanted = { name, permissions, ipAllowlist: ip_allowlist };
  const key = await createKey(services, params.name, originOf(call), wanted);
  return { status: 201, body: { name, key, message: "success" }, headers: SECRET_HEADERS };
});

const rotateEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/api-keys/:key/rotate",
  summary: "Gives an API key a new secret, shown once; the older one stays good for a while.",
  access: byAdministrator,
  params: OfKey,
  body: Type.Object(
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
  ),
  replies: {
    200: Type.Object({
      name: Type.String(),
      key: ShownOnce,
      previous_key_until: Type.String(),
      message: Success,
    }),
  },
}).handledBy(async (services: KeyServices, _nobody, { params, body, call }) => {
  const { overlap_seconds = DEFAULT_OVERLAP_SECONDS } = body;
  const { secret, overlapUntil } = await rotateKey(
    services,
    params.name,
    originOf(call),
    params.key,
    overlap_seconds,
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
  summary: "Changes what an API key may do, and from where; its secret stays.",
  access: byAdministrator,
  params: OfKey,
  body: Type.Object(
    { permissions: KeyPermissions, ip_allowlist: IpAllowlist },
    { additionalProperties: false },
  ),
  replies: { 200: Type.Object({ message: Success }) },
}).handledBy(async (services: KeyServices, _nobody, { params, body, call }) => {
  const grant = { permissions: body.permissions, ipAllowlist: body.ip_allowlist };
  await changeKey(services, params.name, originOf(call), params.key, grant);
  return { status: 200, body: { message: "success" } };
});

const revokeEndpoint = endpoint({
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/api-keys/:key",
  summary: "Revokes an API key: none of its secrets opens anything again.",
  access: byAdministrator,
  params: OfKey,
  replies: { 200: Type.Object({ message: Success }) },
}).handledBy(async (services: KeyServices, _nobody, { params, call }) => {
  await revokeKey(services, params.name, originOf(call), params.key);
  return { status: 200, body: { message: "success" } };
});

export const apiKeyEndpoints = [
  listEndpoint,
  createEndpoint,
  rotateEndpoint,
  changeEndpoint,
  revokeEndpoint,
];
