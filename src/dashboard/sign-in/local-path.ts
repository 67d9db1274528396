/* Where a browser goes after it has signed in. */

const DASHBOARD = "/dashboard/";

/** A host that is never contacted: it only shows whether an address leaves this server. */
const NOWHERE = "http://local.invalid";

/**
 * A path of the dashboard, with query and fragment. Everything else becomes the dashboard itself, so that no link
 * to the sign-in leads a person to another site.
 */
export function localPath(wanted: unknown): string {
  if (typeof wanted !== "string" || !wanted.startsWith("/")) return DASHBOARD;
  if (!URL.canParse(wanted, NOWHERE)) return DASHBOARD;
  // Parsed as browsers parse it: they take \ for / and leave out tabs and line breaks.
  const { origin, pathname, search, hash } = new URL(wanted, NOWHERE);
  const isOurs =
    origin === NOWHERE && (pathname.startsWith(DASHBOARD) || pathname === "/dashboard");
  return isOurs ? pathname + search + hash : DASHBOARD;
}

/** A path, not an address: a proxy may serve Rapport under several hosts, and the cookie is of this one. */
export const dashboardPath = (baseUrl: string, path = DASHBOARD): string =>
  new URL(baseUrl).pathname.replace(/\/$/, "") + path;
