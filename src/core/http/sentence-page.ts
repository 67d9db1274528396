import type { SentencePage } from "../base/problem.ts";

const WRITTEN: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text escaped for HTML, in an element or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => WRITTEN[character] ?? character);

/* A page with one sentence, for people who followed a link. */

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px;
    box-sizing: border-box; background: light-dark(#f3f4f8, #101216); color: light-dark(#16181d, #f1f3f7); }
  main { max-width: 420px; padding: 40px; border-radius: 20px; text-align: center;
    background: light-dark(#fff, #191c22); box-shadow: 0 16px 40px -12px rgb(16 24 40 / 14%); }
  svg { width: 48px; height: 48px; opacity: 0.45; } h1 { margin: 16px 0 0; font-size: 1.25rem; line-height: 1.3; }
  p { margin: 16px 0 0; overflow-wrap: anywhere; }
  a { color: inherit; }
  button { margin-top: 24px; padding: 10px 24px; border: 0; border-radius: 10px; font: inherit; font-weight: 600;
    background: light-dark(#16181d, #f1f3f7); color: light-dark(#fff, #16181d); cursor: pointer; }
`;

const SYMBOL = `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" aria-hidden="true"><path d="M3 7.5A2.5 2.5 0 0 1 5.5 5h13A2.5 2.5 0 0 1 21 7.5v9a2.5 2.5 0 0 1-2.5 2.5h-13A2.5 2.5 0 0 1 3 16.5z"/><path d="m4 8 8 5.5L20 8"/></svg>`;

/**
 * A whole HTML document.
 *
 * @param sentence plain text.
 * @param form a button below it, which sends a POST.
 * @param page replaces the sentence: a heading, what to do, in the reader's language, and perhaps a link.
 */
export function sentencePage(
  sentence: string,
  page?: SentencePage,
  form?: { readonly action: string; readonly button: string },
): string {
  const { heading = sentence, text, locale = "en", direction = "ltr", link } = page ?? {};
  const body = page
    ? `<h1>${escapeHtml(heading)}</h1><p>${escapeHtml(text ?? "")}</p>`
    : `<p>${escapeHtml(sentence)}</p>`;
  return `<!doctype html>
<html lang="${escapeHtml(locale)}" dir="${direction}"><head><meta charset="utf-8"><title>${escapeHtml(heading)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<style>${STYLE}</style></head>
<body><main>${SYMBOL}${body}${link ? linkTo(link) : ""}${form ? buttonOf(form) : ""}</main></body></html>
`;
}

const linkTo = ({ path, text }: NonNullable<SentencePage["link"]>): string =>
  `<p><a href="${escapeHtml(path)}">${escapeHtml(text)}</a></p>`;

const buttonOf = ({
  action,
  button,
}: {
  readonly action: string;
  readonly button: string;
}): string =>
  `<form method="post" action="${escapeHtml(action)}"><button>${escapeHtml(button)}</button></form>`;
