import Type from "typebox";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, endpoint } from "../http/endpoint.ts";
import { localeMembers, localeOf, refuseUnstorableNames, Uuid } from "./declarations.ts";
import { listLocales, type ManageServices, putLocale, removeLocale } from "./manage-locales.ts";
import { Success, success } from "./success.ts";

const listEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/locales",
  summary: "Lists the locales of a workspace.",
  access: byAdministrator,
  params: Type.Object({ name: Type.String() }),
  replies: {
    200: Type.Object({
      locales: Type.Array(
        Type.Object({ id: Type.String(), ...localeMembers, declared: Type.Boolean() }),
      ),
      message: Type.Literal("success"),
    }),
  },
}).handledBy(async (services: ManageServices, _nobody, { params }) => {
  const locales = (await listLocales(services, params.name)).map(({ localeKey, ...rest }) => ({
    ...rest,
    locale_key: localeKey,
  }));
  return { status: 200, body: { locales, message: "success" } };
});

const OfLocale = Type.Object({ name: Type.String(), id: Uuid });

const putEndpoint = endpoint({
  method: "PUT",
  path: "/admin/v1/workspaces/:name/locales/:id",
  summary: "Makes a locale, or changes it.",
  access: byAdministrator,
  params: OfLocale,
  body: Type.Object(localeMembers, { additionalProperties: false }),
  replies: { 200: Success },
}).handledBy(async (services: ManageServices, _nobody, { params, body, call }) => {
  refuseUnstorableNames(body, []);
  await putLocale(services, params.name, originOf(call), localeOf({ id: params.id, ...body }));
  return success;
});

const removeEndpoint = endpoint({
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/locales/:id",
  summary: "Removes a locale; translations into it wait for it to come back.",
  access: byAdministrator,
  params: OfLocale,
  replies: { 200: Success },
}).handledBy(async (services: ManageServices, _nobody, { params, call }) => {
  await removeLocale(services, params.name, originOf(call), params.id.toLowerCase());
  return success;
});

export const localeEndpoints = [listEndpoint, putEndpoint, removeEndpoint];
