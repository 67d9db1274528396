import Type from "typebox";
import type { Context } from "../../core/base/context/context.ts";
import { byAnybody, type Contract, endpoint, type Input } from "../../core/http/endpoint.ts";
import { saysOneClick } from "./choices.ts";
import { PAGE_ROUTE, PREVIEW_ROUTE } from "./page-address.ts";
import { openPreview, type PreviewLinkServices } from "./preview-link.ts";
import { type PageServices, showPage, submitPage, type Visit } from "./show-page.ts";

/* The pages themselves. The link is the permission: it shows the page and accepts choices. */

/** Common parts of a user's page and a preview. */
const PAGE = {
  access: byAnybody,
  dialect: "page",
  refusals: ["RATE_LIMITED"],
  produces: "text/html",
  params: Type.Object({ link: Type.String({ minLength: 1, maxLength: 2_048 }) }),
  headers: Type.Object({ "accept-language": Type.Optional(Type.String()) }),
  replies: { 200: Type.String() },
} as const;

const visitOf = (
  { address }: Context,
  {
    params,
    headers,
    baseUrl,
  }: Pick<Input<typeof PAGE & Contract>, "params" | "headers" | "baseUrl">,
): Omit<Visit, "isOneClick"> => ({
  link: params.link,
  baseUrl,
  address,
  acceptLanguage: headers["accept-language"],
});

const showEndpoint = endpoint({
  name: "showPreferencePage",
  ...PAGE,
  method: "GET",
  path: PAGE_ROUTE,
  summary: "Shows a user the page where users choose what they receive.",
  query: Type.Object({
    page: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "For groups, if there are more than a page shows.",
        examples: [1],
      }),
    ),
  }),
}).handledBy(async (services: PageServices, context, input) => {
  const visit = { ...visitOf(context, input), isOneClick: false, groupPage: input.query.page };
  const page = await showPage(services, visit);
  return { status: 200, body: page.html, headers: page.headers };
});

const submitEndpoint = endpoint({
  name: "submitPreferencePage",
  ...PAGE,
  method: "POST",
  path: PAGE_ROUTE,
  summary: "Saves a user's choices, or the one-click unsubscribe of a mail program (RFC 8058).",
  accepts: ["application/x-www-form-urlencoded", "multipart/form-data"],
  headers: Type.Object({
    ...PAGE.headers.properties,
    "content-type": Type.Optional(Type.String()),
  }),
  body: Type.String(),
  replies: { ...PAGE.replies, 303: Type.Undefined() },
}).handledBy(async (services: PageServices, context, input) => {
  const { headers, body } = input;
  const visit = { ...visitOf(context, input), isOneClick: saysOneClick(body) };
  const form = { body, contentType: headers["content-type"] ?? "" };
  const shown = await submitPage(services, context, visit, form);
  if ("redirectUrl" in shown) {
    return { status: 303, body: undefined, headers: { location: shown.redirectUrl } };
  }
  return { status: 200, body: shown.html, headers: shown.headers };
});

const previewEndpoint = endpoint({
  name: "getPreferencePreview",
  ...PAGE,
  method: "GET",
  path: PREVIEW_ROUTE,
  summary: "Shows the preview that an administrator made a link for; it opens for ten minutes.",
}).handledBy(async (services: PreviewLinkServices, context, input) => {
  const page = await openPreview(services, visitOf(context, input));
  return { status: 200, body: page.html, headers: page.headers };
});

export const pageEndpoints = [showEndpoint, submitEndpoint, previewEndpoint];
