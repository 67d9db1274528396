/**
 * The headers of every page, unless its endpoint says otherwise: no scripts, nothing loaded from
 * elsewhere, no frames, no referrer.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/**
 * For pages whose HTML an author of a workspace writes: in a sandbox, `<meta http-equiv="refresh">`
 * cannot send a reader, with the page's data about them, to another host. It begins a
 * Content-Security-Policy.
 */
export const SANDBOX =
  "sandbox allow-forms allow-same-origin allow-popups allow-popups-to-escape-sandbox; ";
