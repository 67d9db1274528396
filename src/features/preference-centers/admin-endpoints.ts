import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import type { AdministerServices } from "../../core/admin/workspaces/administer.ts";
import { MERGED } from "../../core/admin/workspaces/merge-patch.ts";
import {
  ClosedObject,
  NullableText,
  named,
  OfWorkspace,
  OnlySuccess,
  Success,
  succeeding,
  successOf,
  Text,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import {
  byAdministrator,
  byAdministratorOfWorkspace,
  endpoint,
  success,
} from "../../core/http/endpoint.ts";
import type { CenterContent, PreferenceCenter } from "./center.ts";
import { type CheckServices, checkCenter, DECLARED_NAMES } from "./check-center.ts";
import { type CenterWarning, ShownOptions, State, Translations, Warnings } from "./content-form.ts";
import { CenterId, centerMembers, centerOf } from "./declarations.ts";
import type { Links } from "./links.ts";
import {
  changeCenter,
  listCenters,
  putCenter,
  readCenter,
  removeCenter,
} from "./manage-centers.ts";
import { CENTER_PATCHING, patchCenter } from "./patch-center.ts";
import { previewContent, previewPage } from "./preview.ts";
import { makePreviewLink } from "./preview-link.ts";
import type { CenterSummary } from "./store.ts";

/* Preference centers one at a time, in the words of the manifest. */

const PATH = "/admin/v1/workspaces/:name/preference-centers";

const OfCenter = Type.Object({ name: Type.String(), id: CenterId });

const Summary = named("DeclaredPreferenceCenterSummary", {
  id: Type.String(),
  name: Type.String(),
  title: Type.String(),
  state: State,
  declared: Type.Boolean({ description: "Whether a manifest declared it." }),
  created_at: Type.String(),
  updated_at: Type.String(),
});

const Center = named("DeclaredPreferenceCenter", {
  ...Summary.properties,
  page_html: Type.String(),
  confirmation_html: Type.String(),
  redirect_url: NullableText,
  options: ShownOptions,
  locale: Type.String(),
  translations: Translations,
});

const Checked = Type.Intersect([Center, Type.Object({ warnings: Warnings, message: Success })]);

const summaryOf = ({ createdAt, updatedAt, ...center }: CenterSummary) => ({
  ...center,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

const viewOf = (center: PreferenceCenter) => {
  const { id, name, title, state, declared, createdAt, updatedAt } = center;
  return {
    ...summaryOf({ id, name, title, state, declared, createdAt, updatedAt }),
    page_html: center.pageHtml,
    confirmation_html: center.confirmationHtml,
    redirect_url: center.redirectUrl,
    options: center.options,
    locale: center.locale,
    translations: center.translations,
    message: "success" as const,
  };
};

const listEndpoint = endpoint({
  name: "listDeclaredPreferenceCenters",
  method: "GET",
  path: PATH,
  summary: "Lists the preference centers of a workspace.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  replies: succeeding({ preference_centers: Type.Array(Summary) }),
}).handledBy(async (services: StoringServices, context) => {
  const { workspace } = context;
  const centers = await listCenters(services, workspace);
  return success({ preference_centers: centers.map(summaryOf) });
});

const readEndpoint = endpoint({
  name: "getDeclaredPreferenceCenter",
  method: "GET",
  path: `${PATH}/:id`,
  summary: "Reads a preference center.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfCenter,
  replies: { 200: successOf(Center) },
}).handledBy(async (services: StoringServices, context, { params }) => {
  const { workspace } = context;
  return { status: 200, body: viewOf(await readCenter(services, workspace, params.id)) };
});

const putEndpoint = endpoint({
  name: "putPreferenceCenter",
  method: "PUT",
  path: `${PATH}/:id`,
  summary:
    "Creates or changes a preference center; omitted fields get the same defaults as in a manifest.",
  access: byAdministratorOfWorkspace("manage_email_settings"),
  params: OfCenter,
  body: ClosedObject(centerMembers),
  replies: { 200: Checked },
}).handledBy(async (services: AdministerServices & CheckServices, context, { params, body }) => {
  const wanted = centerOf({ id: params.id, ...body });
  const warnings = await checkCenter(services, context.workspace, wanted, DECLARED_NAMES);
  const center = await putCenter(services, context, wanted);
  return { status: 200, body: { ...viewOf(center), ...(warnings.length > 0 && { warnings }) } };
});

const patchEndpoint = endpoint({
  name: "patchPreferenceCenter",
  method: "PATCH",
  path: `${PATH}/:id`,
  summary: `Changes the given fields of a preference center; ${MERGED}`,
  refusals: ["NOT_FOUND", "CONFLICT"],
  access: byAdministratorOfWorkspace("manage_email_settings"),
  params: OfCenter,
  body: CENTER_PATCHING.body,
  replies: { 200: Checked },
}).handledBy(async (services: AdministerServices & CheckServices, context, { params, body }) => {
  let warnings: CenterWarning[] = [];
  const change = async (present: CenterContent) => {
    const wanted = patchCenter(params.id, present, body as Parameters<typeof patchCenter>[2]);
    warnings = await checkCenter(services, context.workspace, wanted, DECLARED_NAMES);
    return wanted;
  };
  const center = await changeCenter(services, context, params.id, change, async (it) => it, true);
  return { status: 200, body: { ...viewOf(center), ...(warnings.length > 0 && { warnings }) } };
});

const removeEndpoint = endpoint({
  name: "deletePreferenceCenter",
  method: "DELETE",
  path: `${PATH}/:id`,
  summary: "Removes a preference center; the states that users chose are kept.",
  access: byAdministratorOfWorkspace("manage_email_settings"),
  params: OfCenter,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: AdministerServices, context, { params }) => {
  await removeCenter(services, context, params.id);
  return success();
});

const previewOptions = {
  external_id: Type.Optional(
    Type.String({ description: "The user whose page is shown; a sample user by default." }),
  ),
  locale: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "Such as es or es-MX; the user's language by default.",
    }),
  ),
  page: Type.Optional(Type.Enum(["page", "confirmation"])),
};

type PreviewServices = StoringServices & CheckServices & AuditingServices;

const previewEndpoint = endpoint({
  name: "previewPreferenceCenter",
  method: "GET",
  path: `${PATH}/:id/preview`,
  summary: "Shows a page of a preference center as a sample user, or a real one, would see it.",
  access: byAdministratorOfWorkspace("basic_access", "view_pii"),
  produces: "text/html",
  params: OfCenter,
  query: Type.Object(previewOptions),
  replies: { 200: Type.String() },
}).handledBy(async (services: PreviewServices, context, { params, query }) => {
  const { workspace } = context;
  const { html, headers } = await previewPage(services, workspace, params.id, query);
  if (query.external_id !== undefined) await recordRead(services, context, "preference_page", 1);
  return { status: 200, body: html, headers };
});

const previewContentEndpoint = endpoint({
  name: "previewPreferenceCenterContent",
  method: "POST",
  path: `${PATH}/:id/preview`,
  summary: "Checks the content of a preference center and shows its page, without saving anything.",
  access: byAdministratorOfWorkspace("basic_access", "view_pii"),
  idempotency: "ignored",
  params: OfCenter,
  body: ClosedObject({
    center: ClosedObject(centerMembers, { description: "The content, as PUT takes it." }),
    ...previewOptions,
  }),
  replies: succeeding({
    html: Text(
      "The whole document of the page.",
      "<!doctype html><title>Preference Center</title><form>…</form>",
    ),
    warnings: Warnings,
  }),
}).handledBy(async (services: PreviewServices, context, { params, body }) => {
  const { center, ...options } = body;
  const wanted = centerOf({ id: params.id, ...center });
  const warnings = await checkCenter(services, context.workspace, wanted, DECLARED_NAMES);
  const html = await previewContent(services, context.workspace, wanted, options);
  if (options.external_id !== undefined) await recordRead(services, context, "preference_page", 1);
  const noted = warnings.length > 0 && { warnings };
  return success({ html, ...noted });
});

const previewLinkEndpoint = endpoint({
  name: "previewLinkPreferenceCenter",
  method: "POST",
  path: `${PATH}/:id/preview-link`,
  summary: "Makes a link to a preview that opens for ten minutes, without any header.",
  description: "It shows the page of a sample user, never a real one's.",
  access: byAdministratorOfWorkspace("basic_access"),
  secrets: ["url"],
  idempotency: "ignored",
  params: OfCenter,
  body: ClosedObject(
    { locale: previewOptions.locale, page: previewOptions.page },
    { examples: [{ locale: "es", page: "page" }] },
  ),
  replies: {
    201: Type.Object({
      url: Text(
        "Opens the preview in any browser.",
        "http://127.0.0.1:8080/preference-previews/aGVsbG8",
      ),
      expires_at: Text("ISO 8601.", "2026-01-01T12:10:00.000Z"),
      message: Success,
    }),
  },
}).handledBy(
  async (
    services: StoringServices & { readonly links: Links },
    context,
    { params, body, baseUrl },
  ) => {
    const made = await makePreviewLink(services, context, params.id, body, baseUrl);
    const expires_at = made.expiresAt.toISOString();
    return { status: 201, body: { url: made.url, expires_at, message: "success" } };
  },
);

const rotateEndpoint = endpoint({
  name: "rotatePreferencePageLinks",
  method: "POST",
  path: "/admin/v1/preference-page-links/rotate",
  summary:
    "Signs links to preference pages with a new secret; links signed with earlier secrets work for an overlap.",
  access: byAdministrator("admin"),
  body: ClosedObject({
    overlap_days: Type.Integer({
      minimum: 0,
      maximum: 3_650,
      description:
        "How long links signed with earlier secrets still work; 0 ends them within 30 seconds.",
    }),
  }),
  replies: { 200: OnlySuccess },
}).handledBy(async ({ links }: { readonly links: Links }, context, { body }) => {
  await links.rotate(context, body.overlap_days);
  return success();
});

export const preferenceCenterAdminEndpoints = [
  rotateEndpoint,
  listEndpoint,
  readEndpoint,
  putEndpoint,
  patchEndpoint,
  removeEndpoint,
  previewEndpoint,
  previewContentEndpoint,
  previewLinkEndpoint,
];
