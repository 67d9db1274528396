import Type from "typebox";
import { refuseUnstorableNames, Uuid } from "../campaigns/declarations.ts";
import type { ManageServices } from "../campaigns/manage-campaigns.ts";
import { Success, success } from "../campaigns/success.ts";
import { byAdministratorOfWorkspace, endpoint } from "../http/endpoint.ts";
import { localeMembers, localeOf } from "./locale.ts";
import { listLocales, putLocale, removeLocale } from "./manage-locales.ts";

const listEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/locales",
  summary: "Lists the locales of a workspace.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: Type.Object({ name: Type.String() }),
  replies: {
    200: Type.Object({
      locales: Type.Array(
        Type.Object({ id: Type.String(), ...localeMembers, declared: Type.Boolean() }),
      ),
      message: Type.Literal("success"),
    }),
  },
}).handledBy(async (services: ManageServices, context) => {
  const locales = (await listLocales(services, context)).map(({ localeKey, ...rest }) => ({
    ...rest,
    locale_key: localeKey,
  }));
  return { status: 200, body: { locales, message: "success" } };
});

const OfLocale = Type.Object({ name: Type.String(), id: Uuid });

const putEndpoint = endpoint({
  method: "PUT",
  path: "/admin/v1/workspaces/:name/locales/:id",
  summary: "Creates or changes a locale.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfLocale,
  body: Type.Object(localeMembers, { additionalProperties: false }),
  replies: { 200: Success },
}).handledBy(async (services: ManageServices, context, { params, body }) => {
  refuseUnstorableNames(body, []);
  await putLocale(services, context, localeOf({ id: params.id, ...body }));
  return success;
});

const removeEndpoint = endpoint({
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/locales/:id",
  summary: "Removes a locale; its translations are kept in case it is declared again.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfLocale,
  replies: { 200: Success },
}).handledBy(async (services: ManageServices, context, { params }) => {
  await removeLocale(services, context, params.id.toLowerCase());
  return success;
});

export const localeEndpoints = [listEndpoint, putEndpoint, removeEndpoint];
