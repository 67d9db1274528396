import Type, { type Static } from "typebox";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  NullableText,
  named,
  nullable,
  Success,
  succeeding,
  successOf,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import {
  type Contract,
  endpoint,
  type Input,
  success,
  withPermission,
} from "../../core/http/endpoint.ts";
import type { Idempotency } from "../../core/http/idempotency.ts";
import {
  type CenterContent,
  DEFAULT_OPTIONS,
  DEFAULT_TITLE,
  type PreferenceCenter,
} from "./center.ts";
import { API_NAMES, type CheckServices, checkCenter } from "./check-center.ts";
import {
  type CenterWarning,
  localeOf,
  Options,
  optionsOf,
  ShownOptions,
  State,
  Title,
  Translations,
  translationsOf,
  Warnings,
} from "./content-form.ts";
import {
  changeCenter,
  createCenter,
  listCenters,
  readCenter,
  type Where,
} from "./manage-centers.ts";
import { type UrlServices, urlOfUser } from "./user-url.ts";

/* The API of preference centers. Times are ISO 8601, in UTC. */

const PATH = "/preference_center/v1";

type ChangeServices = StoringServices & CheckServices & { readonly idempotency: Idempotency };

const Summary = named("PreferenceCenterSummary", {
  name: Type.String(),
  preference_center_api_id: Type.String(),
  created_at: Type.String(),
  updated_at: Type.String(),
});

const summaryOf = ({
  id,
  name,
  createdAt,
  updatedAt,
}: Pick<PreferenceCenter, "id" | "name" | "createdAt" | "updatedAt">) => ({
  name,
  preference_center_api_id: id,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

const OfCenter = Type.Object({
  preference_center_id: Type.String({ minLength: 1, maxLength: 255 }),
});

const listEndpoint = endpoint({
  name: "listPreferenceCenters",
  method: "GET",
  path: `${PATH}/list`,
  summary: "Lists the preference centers.",
  access: withPermission("preference_center.list"),
  replies: succeeding({ preference_centers: Type.Array(Summary) }),
}).handledBy(async (services: StoringServices, { workspace }) => {
  const centers = await listCenters(services, workspace);
  return success({ preference_centers: centers.map(summaryOf) });
});

const readEndpoint = endpoint({
  name: "getPreferenceCenter",
  method: "GET",
  path: `${PATH}/:preference_center_id`,
  summary: "Reads a preference center.",
  access: withPermission("preference_center.get"),
  params: OfCenter,
  replies: {
    200: successOf(
      named("PreferenceCenter", {
        ...Summary.properties,
        preference_center_title: Type.String(),
        preference_center_page_html: Type.String(),
        confirmation_page_html: Type.String(),
        redirect_page_html: NullableText,
        preference_center_options: ShownOptions,
        state: State,
        locale: Type.String({ description: "The language that the pages are written in." }),
        translations: Translations,
      }),
    ),
  },
}).handledBy(async (services: StoringServices, { workspace }, { params }) => {
  const center = await readCenter(services, workspace, params.preference_center_id);
  return success({
    ...summaryOf(center),
    preference_center_title: center.title,
    preference_center_page_html: center.pageHtml,
    confirmation_page_html: center.confirmationHtml,
    redirect_page_html: center.redirectUrl,
    preference_center_options: center.options,
    state: center.state,
    locale: center.locale,
    translations: center.translations,
  });
});

/** `locale` and `translations` are ours. */
const content = {
  name: Type.Optional(Type.String()),
  preference_center_title: Type.Optional(Title),
  preference_center_page_html: Type.Optional(Type.String()),
  confirmation_page_html: Type.Optional(Type.String()),
  redirect_page_html: Type.Optional(
    nullable(Type.String(), { description: "A URL to open instead of the confirmation page." }),
  ),
  options: Type.Optional(Options),
  /** In the form that GET returns, so that it can be sent back. */
  preference_center_options: Type.Optional(Options),
  state: Type.Optional(State),
  locale: Type.Optional(Type.String()),
  translations: Type.Optional(Translations),
};

/** Publicly known: which are required. */
const NewCenter = Type.Object({
  ...content,
  name: Type.String(),
  preference_center_page_html: Type.String(),
  confirmation_page_html: Type.String(),
});

const ChangedCenter = Type.Object(content);

/** Omitted members stay as in `present`. */
function contentOf(body: Static<typeof ChangedCenter>, present: CenterContent): CenterContent {
  const options = body.options ?? body.preference_center_options;
  return {
    name: body.name ?? present.name,
    title: body.preference_center_title ?? present.title,
    state: body.state ?? present.state,
    pageHtml: body.preference_center_page_html ?? present.pageHtml,
    confirmationHtml: body.confirmation_page_html ?? present.confirmationHtml,
    redirectUrl:
      body.redirect_page_html === undefined ? present.redirectUrl : body.redirect_page_html,
    options: options ? optionsOf(options) : present.options,
    locale: body.locale === undefined ? present.locale : localeOf(body.locale),
    translations: body.translations ? translationsOf(body.translations) : present.translations,
  };
}

const UNSAID = {
  title: DEFAULT_TITLE,
  state: "active",
  redirectUrl: null,
  options: DEFAULT_OPTIONS,
  locale: "en",
  translations: {},
} as const;

const EXAMPLE = {
  preference_center_title: "Email preferences",
  preference_center_page_html:
    '<form method="post" action="{{ preference_center_submit_url }}">{% for group in subscription_groups %}' +
    '<label><input type="checkbox" name="{{ group.field_name }}"> {{ group.name }}</label>' +
    "{% endfor %}<button>Save</button></form>",
  confirmation_page_html: "<p>Saved.</p>",
  state: "active",
};

const createEndpoint = endpoint({
  name: "createPreferenceCenter",
  method: "POST",
  path: PATH,
  summary: "Creates a preference center.",
  examples: { "A center": { name: "main", ...EXAMPLE } },
  access: withPermission("preference_center.update"),
  // Pages are checked on a thread: no transaction waits for that.
  idempotency: "handler",
  body: NewCenter,
  replies: {
    201: Type.Object({
      preference_center_api_id: Type.String(),
      liquid_tag: Type.String({ description: "The HTML link to the user's page, for a message." }),
      created_at: Type.String(),
      updated_at: Type.String(),
      warnings: Warnings,
      message: Success,
    }),
  },
}).handledBy(async (services: ChangeServices, context, { body, idempotency: claim }) => {
  const { workspace } = context;
  const wanted = contentOf(body, {
    ...UNSAID,
    name: body.name,
    pageHtml: body.preference_center_page_html,
    confirmationHtml: body.confirmation_page_html,
  });
  const warnings = await checkCenter(services, workspace, wanted, API_NAMES);
  return createCenter(services, context, wanted, async (center, tx) => {
    const { name, ...summary } = summaryOf(center);
    const liquid_tag = `{{preference_center.\${${name}}}}`;
    const body = { ...summary, liquid_tag, ...noted(warnings), message: "success" as const };
    const reply = { status: 201 as const, body };
    if (claim) await services.idempotency.record(tx, workspace, [{ claim, reply }]);
    return reply;
  });
});

const noted = (warnings: CenterWarning[]) => (warnings.length > 0 ? { warnings } : {});

const update = {
  path: `${PATH}/:preference_center_id`,
  access: withPermission("preference_center.update"),
  // Pages are checked on a thread: no transaction waits for that.
  idempotency: "handler",
  params: OfCenter,
  body: ChangedCenter,
  examples: { "New pages": EXAMPLE },
  replies: succeeding({
    preference_center_api_id: Type.String(),
    created_at: Type.String(),
    updated_at: Type.String(),
    warnings: Warnings,
  }),
} as const;

/**
 * Clients write `POST …/url` for the link of a user.
 *
 * @throws Problem NOT_FOUND that names the path of links, unless a center has this id.
 */
async function refuseUrl(services: StoringServices, workspace: Where): Promise<void> {
  const centers = await listCenters(services, workspace);
  if (centers.some(({ id }) => id === "url")) return;
  const path = `GET ${PATH}/{preference_center_id}/url/{user_id}`;
  throw new Problem("NOT_FOUND", `There is no preference center 'url'. Do you mean ${path}?`);
}

/** The specification's usage example shows POST, so both do the same. */
async function updateCenter(
  services: ChangeServices,
  context: WorkspaceContext,
  {
    params,
    body,
    idempotency: claim,
  }: Pick<Input<Contract>, "idempotency"> & {
    params: Static<typeof OfCenter>;
    body: Static<typeof ChangedCenter>;
  },
) {
  const { workspace } = context;
  let warnings: CenterWarning[] = [];
  const change = async (present: CenterContent) => {
    const wanted = contentOf(body, present);
    warnings = await checkCenter(services, workspace, wanted, API_NAMES);
    return wanted;
  };
  const id = params.preference_center_id;
  if (id === "url") await refuseUrl(services, workspace);
  return changeCenter(services, context, id, change, async (center, tx) => {
    const { name: _, ...summary } = summaryOf(center);
    const body = { ...summary, ...noted(warnings), message: "success" as const };
    const reply = { status: 200 as const, body };
    if (claim) await services.idempotency.record(tx, workspace, [{ claim, reply }]);
    return reply;
  });
}

const putEndpoint = endpoint({
  name: "updatePreferenceCenter",
  method: "PUT",
  summary: "Changes a preference center; omitted members stay.",
  ...update,
}).handledBy(updateCenter);

const postEndpoint = endpoint({
  name: "updatePreferenceCenterByPost",
  method: "POST",
  summary: "Changes a preference center, as PUT does.",
  ...update,
}).handledBy(updateCenter);

const urlEndpoint = endpoint({
  name: "getPreferencePageUrl",
  method: "GET",
  path: `${PATH}/:preference_center_id/url/:user_id`,
  summary: "Returns the URL of a user's page.",
  access: withPermission("preference_center.user.get"),
  secrets: ["preference_center_url"],
  params: Type.Object({ ...OfCenter.properties, user_id: Type.String({ minLength: 1 }) }),
  replies: succeeding({ preference_center_url: Type.String() }),
}).handledBy(async (services: UrlServices, { workspace }, { params, baseUrl }) => {
  const { preference_center_id: id, user_id: userId } = params;
  const preference_center_url = await urlOfUser(services, workspace, id, userId, baseUrl);
  return success({ preference_center_url });
});

export const preferenceCenterEndpoints = [
  listEndpoint,
  readEndpoint,
  createEndpoint,
  putEndpoint,
  postEndpoint,
  urlEndpoint,
];
