import Type from "typebox";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { Problem } from "../../core/base/problem.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { type Endpoint, endpoint } from "../../core/http/endpoint.ts";
import { captureCall, type ReceivedCall } from "./capture-call.ts";
import { PUBLIC_CALLS, type PublicCall } from "./public-calls.ts";

/*
 * Routes for the public calls that Rapport does not serve. They are no part of the reference. A
 * caller needs a key with the call's own permission, because the key determines the workspace;
 * there `capture_unsupported` decides between a 404 and a success.
 */

const Anything = Type.Record(Type.String(), Type.Unknown());

/** A deletion of one thing has no body; a deletion of several lists them in its body. */
const takesBody = ([method, path]: PublicCall): boolean =>
  method !== "GET" && (method !== "DELETE" || /\/(?:items|delete)$/.test(path));

function routeOf(call: PublicCall): Endpoint<StoringServices> {
  const [method, path, permission] = call;
  // Clients write a slash at the end of these.
  const isCatalog = path.startsWith("/catalogs");
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  return endpoint({
    name: "captureCall",
    method,
    path: isCatalog ? [path, `${path}/`] : path,
    summary: "A public call that Rapport does not serve.",
    access: {
      by: "key",
      permission,
      refuseWithout: (workspace, baseUrl) => refuseUnlessCaptured(call, workspace, baseUrl),
    },
    ...(names.length > 0 && {
      params: Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()]))),
    }),
    query: Anything,
    ...(takesBody(call) && { body: Type.Object({}, { additionalProperties: true }) }),
    replies: { 200: Anything, 201: Anything, 202: Anything },
  }).handledBy((services: StoringServices, context, input) =>
    captureCall(services, context, call, input as unknown as ReceivedCall),
  );
}

/** @throws Problem NOT_FOUND if the workspace does not capture calls. */
function refuseUnlessCaptured(
  [method, path]: PublicCall,
  workspace: Workspace,
  baseUrl: string,
): void {
  if (workspace.settings.capture_unsupported) return;
  const call = `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;
  throw new Problem(
    "NOT_FOUND",
    `${call} is not part of Rapport: see ${baseUrl}/docs/guides/compatibility. ` +
      "With capture_unsupported in the settings of the workspace the call is stored and gets a success.",
    { body: { docs: `${baseUrl}/docs/guides/compatibility` } },
  );
}

export const publicEndpoints: readonly Endpoint<StoringServices>[] = PUBLIC_CALLS.map(routeOf);
