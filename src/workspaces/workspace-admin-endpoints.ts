import Type, { type Static } from "typebox";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, endpoint } from "../http/endpoint.ts";
import type { AdministerServices } from "./administer.ts";
import {
  listWorkspaces,
  putCompany,
  putSettings,
  putWorkspace,
  readCompany,
  readWorkspace,
} from "./manage-workspaces.ts";
import { AllowReset, Name, Settings } from "./manifest.ts";
import type { WorkspaceRow } from "./store.ts";

/* The company and its workspaces in the admin API. What is in them follows from the manifest's sections. */

const Success = Type.Literal("success");

const Workspace = { name: Type.String(), allow_reset: Type.Boolean(), settings: Settings };

const viewOf = ({ name, allowReset, settings }: WorkspaceRow) => ({
  name,
  allow_reset: allowReset,
  settings: settings as Static<typeof Settings>,
});

const OfWorkspace = Type.Object({ name: Name });

const readCompanyEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/company",
  summary: "Reads what the company is called.",
  access: byAdministrator,
  replies: { 200: Type.Object({ name: Type.String(), message: Success }) },
}).handledBy(async (services: AdministerServices) => ({
  status: 200,
  body: { name: await readCompany(services), message: "success" },
}));

const putCompanyEndpoint = endpoint({
  method: "PUT",
  path: "/admin/v1/company",
  summary: "Gives the company another name.",
  access: byAdministrator,
  body: Type.Object({ name: Name }, { additionalProperties: false }),
  replies: { 200: Type.Object({ name: Type.String(), message: Success }) },
}).handledBy(async (services: AdministerServices, _nobody, { body, call }) => {
  await putCompany(services, originOf(call), body.name);
  return { status: 200, body: { name: body.name, message: "success" } };
});

const listEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces",
  summary: "Lists the workspaces with their settings.",
  access: byAdministrator,
  replies: {
    200: Type.Object({ workspaces: Type.Array(Type.Object(Workspace)), message: Success }),
  },
}).handledBy(async (services: AdministerServices) => {
  const workspaces = (await listWorkspaces(services)).map(viewOf);
  return { status: 200, body: { workspaces, message: "success" } };
});

const readEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name",
  summary: "Reads a workspace with its settings.",
  access: byAdministrator,
  params: OfWorkspace,
  replies: { 200: Type.Object({ ...Workspace, message: Success }) },
}).handledBy(async (services: AdministerServices, _nobody, { params }) => {
  const workspace = await readWorkspace(services, params.name);
  return { status: 200, body: { ...viewOf(workspace), message: "success" } };
});

const putEndpoint = endpoint({
  method: "PUT",
  path: "/admin/v1/workspaces/:name",
  summary: "Makes a workspace, or changes it; what is left out is as by default.",
  access: byAdministrator,
  params: OfWorkspace,
  body: Type.Object(
    { allow_reset: Type.Optional(AllowReset), settings: Type.Optional(Settings) },
    { additionalProperties: false },
  ),
  replies: { 200: Type.Object({ ...Workspace, message: Success }) },
}).handledBy(async (services: AdministerServices, _nobody, { params, body, call }) => {
  const workspace = await putWorkspace(services, originOf(call), params.name, body);
  return { status: 200, body: { ...viewOf(workspace), message: "success" } };
});

const readSettingsEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/settings",
  summary: "Reads the settings of a workspace, with those that nobody has set.",
  access: byAdministrator,
  params: OfWorkspace,
  replies: { 200: Type.Object({ settings: Settings, message: Success }) },
}).handledBy(async (services: AdministerServices, _nobody, { params }) => {
  const { settings } = viewOf(await readWorkspace(services, params.name));
  return { status: 200, body: { settings, message: "success" } };
});

const putSettingsEndpoint = endpoint({
  method: "PUT",
  path: "/admin/v1/workspaces/:name/settings",
  summary: "Sets the settings of a workspace; those left out are as by default.",
  access: byAdministrator,
  params: OfWorkspace,
  body: Settings,
  replies: { 200: Type.Object({ settings: Settings, message: Success }) },
}).handledBy(async (services: AdministerServices, _nobody, { params, body, call }) => {
  const workspace = await putSettings(services, originOf(call), params.name, body);
  const { settings } = viewOf(workspace);
  return { status: 200, body: { settings, message: "success" } };
});

export const workspaceAdminEndpoints = [
  readCompanyEndpoint,
  putCompanyEndpoint,
  listEndpoint,
  readEndpoint,
  putEndpoint,
  readSettingsEndpoint,
  putSettingsEndpoint,
];
