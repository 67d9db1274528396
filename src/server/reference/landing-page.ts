import { escapeHtml } from "../../core/http/sentence-page.ts";

const LOGO = `<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#2f5bea"/><path d="M9 23V9h7.2a4.6 4.6 0 0 1 1.4 9L22 23h-4.2l-3.6-4.8H12.600V23z" fill="#fff"/></svg>`;

const STYLE = `
  :root { color-scheme: light dark; font: 17px/1.6 system-ui, sans-serif; }
  body { max-width: 40rem; margin: 12vh auto 4rem; padding: 0 1.25rem; }
  header { display: flex; gap: .75rem; align-items: center; }
  h1 { font-size: 1.6rem; margin: 0; letter-spacing: -.01em; }
  ul { list-style: none; padding: 0; display: grid; gap: .75rem; margin: 2rem 0; }
  li a { display: block; padding: .9rem 1.1rem; border: 1px solid color-mix(in srgb, currentColor 18%, transparent);
    border-radius: 10px; text-decoration: none; color: inherit; }
  li a:hover, li a:focus-visible { border-color: #2f5bea; }
  li strong { display: block; } li span { opacity: .75; font-size: .93rem; }
  pre { overflow-x: auto; padding: .9rem 1.1rem; border-radius: 10px; font: .85rem/1.5 ui-monospace, monospace;
    background: color-mix(in srgb, currentColor 7%, transparent); }
`;

/** A text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** @param baseUrl where the reader reached the server. */
const firstRequest = (
  baseUrl: string,
): string => `curl ${quoted(`${baseUrl}/users/track`)} -H 'Authorization: Bearer KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"events":[{"external_id":"ada","name":"signed_up",
       "time":"2026-01-01T12:00:00Z"}]}'`;

/** The page at the server's address. @param baseUrl where the reader reached the server. */
export const landingPage = (baseUrl: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Rapport</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body>
<header>${LOGO}<h1>Rapport</h1></header>
<main><p>An open customer-engagement data server. It is running, and speaks the API that existing clients already speak.</p>
<ul>
<li><a href="/dashboard/"><strong>Dashboard</strong><span>Requests, users, segments and settings in a browser</span></a></li>
<li><a href="/docs"><strong>Reference and guides</strong><span>Every call with samples and a console to try it</span></a></li>
<li><a href="/openapi.json"><strong>openapi.json</strong><span>The API as an OpenAPI 3.1 document</span></a></li>
<li><a href="/openapi-admin.json"><strong>openapi-admin.json</strong><span>The admin API</span></a></li>
<li><a href="/llms.txt"><strong>llms.txt</strong><span>The guides and the calls as text, for language models</span></a></li>
<li><a href="/manifest.schema.json"><strong>manifest.schema.json</strong><span>The JSON Schema of a manifest, for editors</span></a></li>
<li><a href="/docs/third-party-notices"><strong>Licences</strong><span>The works of others in Rapport</span></a></li>
<li><a href="/health/ready"><strong>Health</strong><span>Whether requests are accepted</span></a></li>
</ul>
<p>The first request, with the key that the server printed when it started instead of KEY:</p>
<pre tabindex="0">${escapeHtml(firstRequest(baseUrl))}</pre></main>
</body></html>`;
