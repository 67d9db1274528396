import { escapeHtml } from "../../src/core/http/sentence-page.ts";
import { type Call, callPath, exampleOf, type Schema } from "./calls.ts";
import { fieldsOf, kindOf, rowOf } from "./fields.ts";
import { codeBlock, htmlOf, tableOf } from "./guides.ts";
import { callName, pageOf } from "./page.ts";
import { clientSample, curlSample, examplePath } from "./samples.ts";

/* The page of a call: what it does, samples, what it takes and returns, and a form that sends it. */

const section = (title: string, anchor: string, contents: string): string =>
  contents &&
  `<section aria-labelledby="${anchor}"><h2 id="${anchor}">${title}</h2>\n${contents}</section>\n`;

const sample = (title: string, text: string | undefined): string =>
  text === undefined
    ? ""
    : `<figure class="sample"><figcaption>${title}</figcaption>${codeBlock(text)}</figure>`;

const shown = (example: unknown): string =>
  typeof example === "string" ? example : JSON.stringify(example, null, 2);

const PLACES = { path: "In the path", query: "In the query", header: "Headers" } as const;

const parametersOf = ({ parameters }: Call): string =>
  Object.entries(PLACES)
    .map(([place, title]) => {
      const rows = parameters
        .filter((each) => each.in === place)
        .map(({ name, schema, description, required }) =>
          rowOf(name, { ...schema, ...(description && { description }) }, required),
        );
      return rows.length > 0 ? `<h3>${title}</h3><dl>${rows.join("")}</dl>` : "";
    })
    .join("");

function contentsOf(contents: Call["body"], label: string): string {
  return Object.entries(contents ?? {})
    .map(([mediaType, content]) => {
      const { description } = content.schema as Schema;
      const fields = fieldsOf(content.schema);
      const kind = fields ? "" : `<p>${escapeHtml(kindOf(content.schema))}</p>`;
      const examples = Object.values(
        content.examples ?? { one: { summary: "Example", value: exampleOf(content) } },
      ).map(
        ({ summary, value }) =>
          `<details class="example"${label === "body" ? "" : " open"}><summary>${escapeHtml(summary)}</summary>${codeBlock(shown(value))}</details>`,
      );
      return `<p class="media">${escapeHtml(mediaType)}</p>${description ? htmlOf(description).html : ""}${kind}${fields}${examples.join("")}`;
    })
    .join("");
}

function responsesOf({ responses }: Call): string {
  const successes = Object.entries(responses).filter(([status]) => status < "400");
  return successes
    .map(
      ([status, { description, content }]) =>
        `<h3>${status}</h3>${htmlOf(description).html}${contentsOf(content, "response")}`,
    )
    .join("");
}

function refusalsOf({ responses }: Call): string {
  const refusals = Object.entries(responses).filter(([status]) => status >= "400");
  if (refusals.length === 0) return "";
  const rows = refusals.map(
    ([status, { description }]) =>
      `<tr><th scope="row">${status}</th><td>${htmlOf(description).html}</td></tr>`,
  );
  const head =
    '<thead><tr><th scope="col">Status</th><th scope="col">Code and meaning</th></tr></thead>';
  return tableOf(`${head}<tbody>${rows.join("\n")}</tbody>`);
}

const KEYS: Readonly<Record<string, string>> = {
  apiKey: "API key",
  scimToken: "SCIM token",
  adminToken: "Admin token",
};

/** Empty for calls that a browser sends with a session, and for streams, which have no end. */
function consoleOf(call: Call): string {
  if (call.credential === "session" || call.id.startsWith("stream")) return "";
  const fields: string[] = [];
  const label = KEYS[call.credential];
  if (label) {
    fields.push(
      `<label>${label}<input name="key" type="password" autocomplete="off" spellcheck="false"></label>`,
    );
  }
  if (call.credential === "scimToken") {
    fields.push('<label>X-Request-Origin<input name="origin" autocomplete="off"></label>');
  }
  fields.push(
    `<label>Path<input name="path" autocomplete="off" spellcheck="false" value="${escapeHtml(examplePath(call))}"></label>`,
  );
  const [mediaType, content] = Object.entries(call.body ?? {})[0] ?? [];
  if (content) {
    const text = escapeHtml(shown(exampleOf(content)));
    fields.push(
      `<label>Body<textarea name="body" rows="10" spellcheck="false" data-type="${escapeHtml(mediaType ?? "")}">${text}</textarea></label>`,
    );
  }
  return (
    `<form class="console" data-method="${call.method}" hidden>${fields.join("\n")}` +
    `<button>Send</button><p role="status"></p><pre tabindex="0" hidden></pre></form>` +
    "<noscript><p>It needs JavaScript.</p></noscript>"
  );
}

export function callPage(call: Call): string {
  const main = [
    `<p class="above">${call.tag}</p><h1 class="call">${callName(call)}</h1>`,
    `<p class="lead">${escapeHtml(call.summary)}</p>`,
    htmlOf(call.description).html,
    section(
      "Samples",
      "samples",
      sample("rapport-client", clientSample(call)) + sample("curl", curlSample(call)),
    ),
    section("Parameters", "parameters", parametersOf(call)),
    section("Body", "body", contentsOf(call.body, "body")),
    section("Response", "response", responsesOf(call)),
    section("Refusals", "refusals", refusalsOf(call)),
    section("Try it", "try", consoleOf(call)),
  ];
  const title = `${call.method} ${call.path}`;
  return pageOf({ title, path: callPath(call), tag: call.tag, main: main.join("\n") });
}
