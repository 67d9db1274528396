import type { WorkspaceSettings } from "../../core/base/context/workspace-settings.ts";
import { SANDBOX } from "../../core/http/page-headers.ts";

/*
 * The Content-Security-Policy of a page whose HTML a team wrote. Its author may put data about the
 * reader into the address of a picture or a font, so the hosts of these are a setting of the
 * workspace, which authors cannot change.
 */

/** The policy's rules for where forms may be sent and what may frame the page. */
interface PagePlace {
  readonly formAction: string;
  readonly frameAncestors: string;
}

/** Accepted in a policy as a host: `;` and `,` in it would begin something else. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/**
 * Whether a text can be a host in a Content-Security-Policy, so that it adds nothing else to the
 * policy.
 */
export const isPolicyHost = (host: string): boolean => HOST.test(host);

/**
 * The hosts of pictures and fonts that the settings of a workspace allow, including the host of its
 * logo.
 */
export function imageHostsOf({
  brand = {},
  page_image_hosts: hosts = [],
}: Partial<Pick<WorkspaceSettings, "brand" | "page_image_hosts">>): string[] {
  const { logo_url: logo } = brand;
  const host = logo !== undefined && URL.canParse(logo) ? new URL(logo).host : "";
  return isPolicyHost(host) ? [...new Set([...hosts, host])] : [...hosts];
}

/** @param imageHosts as `imageHostsOf` returns them. */
export function pagePolicy(
  imageHosts: readonly string[],
  { formAction, frameAncestors }: PagePlace,
): string {
  const sources = imageHosts.includes("*")
    ? "https:"
    : imageHosts.map((host) => `https://${host}`).join(" ");
  const from = ["data:", sources].filter((source) => source !== "").join(" ");
  return (
    `${SANDBOX}default-src 'none'; style-src 'unsafe-inline'; img-src 'self' ${from}; font-src ${from}; ` +
    `form-action ${formAction}; base-uri 'none'; frame-ancestors ${frameAncestors}`
  );
}

/** Whether a page may load a picture from this host, which may end in a port. */
export const isImageHost = (imageHosts: readonly string[], host: string): boolean =>
  imageHosts.some(
    (allowed) =>
      allowed === "*" ||
      allowed === host ||
      (allowed.startsWith("*.") && host.endsWith(allowed.slice(1))),
  );
