import findMyWay from "find-my-way";
import { type Endpoint, pathsOf } from "./endpoint.ts";

/** Writes the target of a request as its endpoint declares it: a method and a URL, path first. */
export type ReadTarget = (method: string, url: string) => string;

/**
 * Base URLs often end with a slash: `//users/track` and `/users/track/` mean `/users/track`, for the
 * calls with an API key. Repeated slashes and one at the end are removed before routing, so that
 * permission, limit and records see one path. Nothing is decoded.
 *
 * All other paths stay as they were sent, because proxies guard them by path, and so does one that
 * may have an empty parameter: `DELETE /catalogs/c/items/` could mean one item or all.
 * docs/compatibility.md
 */
export function readPublicTargets(
  endpoints: readonly Endpoint<never>[],
  options: { readonly maxParamLength: number },
): ReadTarget {
  const declared = findMyWay(options);
  const incomplete = findMyWay(options);
  const add = (router: typeof declared, method: string, declaredPath: string) => {
    const path = declaredPath.replaceAll(/:\w+/g, ":any");
    if (router.hasRoute(method as "GET", path)) return;
    router.on(method as "GET", path, () => {});
  };
  for (const { contract } of endpoints) {
    if (contract.access.by !== "key") continue;
    for (const path of pathsOf(contract)) {
      add(declared, "GET", path);
      for (const shorter of withoutParameters(path)) add(incomplete, contract.method, shorter);
    }
  }
  return (method, url) => {
    const path = url.split(/[?#]/, 1)[0] ?? "";
    if (!path.startsWith("/") || !(path.includes("//") || path.endsWith("/"))) return url;
    const read = `/${path.split("/").filter(Boolean).join("/")}`;
    if (!declared.find("GET", read)) return url;
    const isOnlyPrefixed = path.replace(/^\/+/, "/") === read;
    const looked = method === "HEAD" ? "GET" : method;
    if (!isOnlyPrefixed && incomplete.find(looked as "GET", read)) return url;
    return read + url.slice(path.length);
  };
}

function withoutParameters(path: string): string[] {
  const steps = path.split("/");
  let shapes: string[][] = [[]];
  for (const step of steps) {
    const without = step.startsWith(":") ? shapes : [];
    shapes = [...shapes.map((shape) => [...shape, step]), ...without];
  }
  return shapes.map((shape) => shape.join("/")).filter((shape) => shape !== path);
}
