import Type, { type Static } from "typebox";
import { byAdministratorOfCompany, endpoint } from "../http/endpoint.ts";
import {
  CredentialName,
  DEFAULT_OVERLAP_SECONDS,
  lifeMembers,
  lifeOf,
  OverlapEnd,
  overlapEndOf,
  RequireOrigin,
  RotationBody,
  SECRET_HEADERS,
  ServiceOrigin,
  ShownOnce,
} from "./credential-form.ts";
import type { CredentialView } from "./credentials.ts";
import {
  type CredentialServices,
  changeCredential,
  createCredential,
  listCredentials,
  revokeCredential,
  rotateCredential,
  tokensOf,
} from "./manage-credentials.ts";
import type { TokenGrant } from "./scim-tokens.ts";

const Success = Type.Literal("success");

const ScimToken = Type.Object({
  name: Type.String(),
  service_origin: Type.String(),
  require_origin: Type.Boolean(),
  previous_token_until: OverlapEnd,
  ...lifeMembers,
});

const viewOf = (token: CredentialView<TokenGrant>): Static<typeof ScimToken> => ({
  name: token.name,
  service_origin: token.serviceOrigin,
  require_origin: token.requireOrigin,
  previous_token_until: overlapEndOf(token),
  ...lifeOf(token),
});

const OfToken = Type.Object({ token: Type.String() });

const listEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/scim-tokens",
  summary: "Lists the SCIM tokens of the company, including revoked ones.",
  access: byAdministratorOfCompany("manage_company_settings"),
  replies: { 200: Type.Object({ scim_tokens: Type.Array(ScimToken), message: Success }) },
}).handledBy(async (services: CredentialServices, context) => {
  const tokens = await listCredentials(services, tokensOf(context));
  return { status: 200, body: { scim_tokens: tokens.map(viewOf), message: "success" } };
});

const createEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/scim-tokens",
  summary: "Creates a SCIM token and shows its secret once.",
  access: byAdministratorOfCompany("admin"),
  body: Type.Object(
    {
      name: CredentialName,
      service_origin: ServiceOrigin,
      require_origin: Type.Optional(RequireOrigin),
    },
    { additionalProperties: false },
  ),
  replies: { 201: Type.Object({ name: Type.String(), token: ShownOnce, message: Success }) },
}).handledBy(async (services: CredentialServices, context, { body }) => {
  const { name, service_origin, require_origin = true } = body;
  const grant = { serviceOrigin: service_origin, requireOrigin: require_origin };
  const token = await createCredential(services, tokensOf(context), context, name, grant);
  return { status: 201, body: { name, token, message: "success" }, headers: SECRET_HEADERS };
});

const rotateEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/scim-tokens/:token/rotate",
  summary:
    "Gives a SCIM token a new secret, shown once; the previous one stays valid for an overlap.",
  access: byAdministratorOfCompany("admin"),
  params: OfToken,
  body: RotationBody,
  replies: {
    200: Type.Object({
      name: Type.String(),
      token: ShownOnce,
      previous_token_until: Type.String(),
      message: Success,
    }),
  },
}).handledBy(async (services: CredentialServices, context, { params, body }) => {
  const { secret, overlapUntil } = await rotateCredential(
    services,
    tokensOf(context),
    context,
    params.token,
    body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS,
  );
  return {
    status: 200,
    body: {
      name: params.token,
      token: secret,
      previous_token_until: overlapUntil.toISOString(),
      message: "success",
    },
    headers: SECRET_HEADERS,
  };
});

const changeEndpoint = endpoint({
  method: "PUT",
  path: "/admin/v1/scim-tokens/:token",
  summary: "Changes the service origin of a SCIM token; its secret stays.",
  access: byAdministratorOfCompany("admin"),
  params: OfToken,
  body: Type.Object(
    { service_origin: ServiceOrigin, require_origin: RequireOrigin },
    { additionalProperties: false },
  ),
  replies: { 200: Type.Object({ message: Success }) },
}).handledBy(async (services: CredentialServices, context, { params, body }) => {
  const grant = { serviceOrigin: body.service_origin, requireOrigin: body.require_origin };
  await changeCredential(services, tokensOf(context), context, params.token, grant);
  return { status: 200, body: { message: "success" } };
});

const revokeEndpoint = endpoint({
  method: "DELETE",
  path: "/admin/v1/scim-tokens/:token",
  summary: "Revokes a SCIM token: its secrets stop working for good.",
  access: byAdministratorOfCompany("admin"),
  params: OfToken,
  replies: { 200: Type.Object({ message: Success }) },
}).handledBy(async (services: CredentialServices, context, { params }) => {
  await revokeCredential(services, tokensOf(context), context, params.token);
  return { status: 200, body: { message: "success" } };
});

export const scimTokenEndpoints = [
  listEndpoint,
  createEndpoint,
  rotateEndpoint,
  changeEndpoint,
  revokeEndpoint,
];
