import type { ReactNode } from "react";
import { CodeBlock } from "./code-block.tsx";

/**
 * A value as coloured JSON. Every part of it is text for React, so nothing in it is ever markup.
 */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  const code = JSON.stringify(value, null, 2) ?? "null";
  return (
    <CodeBlock code={code} label={label}>
      <span className="json">{colour(code)}</span>
    </CodeBlock>
  );
}

/** Beyond this, colours cost more than they help. */
const MOST_COLOURED = 100_000;

const TOKEN =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function colour(code: string): ReactNode {
  if (code.length > MOST_COLOURED) return code;
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of code.matchAll(TOKEN)) {
    const [token, text, colon] = match;
    parts.push(code.slice(end, match.index));
    const kind = text === undefined ? "number" : colon === undefined ? "text" : "key";
    parts.push(
      <span key={match.index} className={kind}>
        {token}
      </span>,
    );
    end = match.index + token.length;
  }
  return [...parts, code.slice(end)];
}

/** A value in a line: texts as they are, the rest as JSON. */
export const shortValue = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/** A value as JSON; what is none is a text. */
export function valueIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
