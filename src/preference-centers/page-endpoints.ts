import Type from "typebox";
import { byAnybody, endpoint } from "../http/endpoint.ts";
import { saysOneClick } from "./choices.ts";
import { PAGE_ROUTE, PREVIEW_ROUTE } from "./page-address.ts";
import { openPreview, type PreviewLinkServices } from "./preview-link.ts";
import { type PageServices, showPage, submitPage } from "./show-page.ts";

/* The pages themselves. The link is the permission: it shows the page and accepts choices. */

const OfLink = Type.Object({ link: Type.String({ minLength: 1, maxLength: 2_048 }) });

const Html = Type.String();

const showEndpoint = endpoint({
  method: "GET",
  path: PAGE_ROUTE,
  summary: "Shows a user the page on which to choose what to receive.",
  access: byAnybody,
  dialect: "page",
  refusals: ["RATE_LIMITED"],
  produces: "text/html",
  params: OfLink,
  headers: Type.Object({ "accept-language": Type.Optional(Type.String()) }),
  replies: { 200: Html },
}).handledBy(async (services: PageServices, { address }, { params, headers, baseUrl }) => {
  const acceptLanguage = headers["accept-language"];
  const visit = { link: params.link, baseUrl, acceptLanguage, address, isOneClick: false };
  const page = await showPage(services, visit);
  return { status: 200, body: page.html, headers: page.headers };
});

const submitEndpoint = endpoint({
  method: "POST",
  path: PAGE_ROUTE,
  summary: "Saves a user's choices, or the one-click unsubscribe of a mail program (RFC 8058).",
  access: byAnybody,
  dialect: "page",
  refusals: ["RATE_LIMITED"],
  accepts: ["application/x-www-form-urlencoded", "multipart/form-data"],
  produces: "text/html",
  params: OfLink,
  headers: Type.Object({
    "accept-language": Type.Optional(Type.String()),
    "content-type": Type.Optional(Type.String()),
  }),
  body: Type.String(),
  replies: { 200: Html, 303: Type.Undefined() },
}).handledBy(async (services: PageServices, context, { params, headers, body, baseUrl }) => {
  const { address } = context;
  const acceptLanguage = headers["accept-language"];
  const isOneClick = saysOneClick(body);
  const visit = { link: params.link, baseUrl, acceptLanguage, address, isOneClick };
  const form = { body, contentType: headers["content-type"] ?? "" };
  const shown = await submitPage(services, context, visit, form);
  if ("redirectUrl" in shown) {
    return { status: 303, body: undefined, headers: { location: shown.redirectUrl } };
  }
  return { status: 200, body: shown.html, headers: shown.headers };
});

const previewEndpoint = endpoint({
  method: "GET",
  path: PREVIEW_ROUTE,
  summary: "Shows the preview that an administrator made a link for; it opens for ten minutes.",
  access: byAnybody,
  dialect: "page",
  refusals: ["RATE_LIMITED"],
  produces: "text/html",
  params: OfLink,
  headers: Type.Object({ "accept-language": Type.Optional(Type.String()) }),
  replies: { 200: Html },
}).handledBy(async (services: PreviewLinkServices, { address }, { params, headers }) => {
  const visit = { link: params.link, address, acceptLanguage: headers["accept-language"] };
  const page = await openPreview(services, visit);
  return { status: 200, body: page.html, headers: page.headers };
});

export const pageEndpoints = [showEndpoint, submitEndpoint, previewEndpoint];
