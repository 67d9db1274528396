import Type, { type Static } from "typebox";
import type { KeptRequest } from "./request-log.ts";

/* What is shown of a kept request: the items of its body, each with the verdict from the response. */

const Nullable = (description: string, example: string) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] });

const LiveItem = Type.Object({
  index: Type.Integer({ description: "Its place in its list, from 0." }),
  kind: Type.String({ description: "The list that holds it.", examples: ["events"] }),
  accepted: Type.Boolean({ description: "Whether it took effect." }),
  code: Nullable("Why not.", "INVALID_TIME"),
  message: Nullable("The same as a sentence.", "'time' must be a date in ISO 8601"),
  user: Nullable("Whom it names; null without view_pii.", "ada"),
});

export const LiveRequest = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The newer, the greater." }),
    at: Type.String({
      description: "When it was answered, in ISO 8601.",
      examples: ["2026-01-01T12:00:00.000Z"],
    }),
    method: Type.String({ description: "The HTTP method.", examples: ["POST"] }),
    path: Type.String({ description: "Without the query.", examples: ["/users/track"] }),
    status: Type.Integer({ description: "The HTTP status.", examples: [201] }),
    duration_ms: Type.Number({ description: "How long it took.", examples: [4.2] }),
    key: Type.Object(
      {
        id: Type.String({ description: "The id of the key." }),
        name: Type.String({ description: "Its name.", examples: ["backend"] }),
      },
      { description: "The API key." },
    ),
    items: Type.Array(LiveItem, {
      description: "At most 200; none where the body was too large to be kept.",
    }),
    rejected: Type.Integer({ minimum: 0, description: "How many items were rejected or skipped." }),
    body: Type.Unknown({
      description: "The body; null without view_pii, and where it had more than 64 KB.",
    }),
    response: Type.Unknown({
      description: "The response; null without view_pii, and where it was long.",
    }),
  },
  { title: "LiveRequest", description: "A request of an API key." },
);

export type LiveRequest = Static<typeof LiveRequest>;

const MOST_ITEMS = 200;

interface Note {
  readonly code?: string;
  readonly message?: string;
  readonly input_array?: string;
  readonly index?: number;
}

/** @param showsPeople whether personal data may be shown. */
export function viewOf(kept: KeptRequest, showsPeople: boolean): LiveRequest {
  const body = parsed(kept.body?.toString("utf8"));
  const response = parsed(kept.response);
  const notes = notesIn(response);
  const isRefused = kept.status >= FIRST_REFUSAL;
  return {
    id: kept.id,
    at: kept.at.toISOString(),
    method: kept.method,
    path: kept.path,
    status: kept.status,
    duration_ms: Math.round(kept.durationMs * 10) / 10,
    key: kept.key,
    items: itemsOf(body, notes, isRefused).map((item) =>
      showsPeople ? item : { ...item, user: null },
    ),
    rejected: notes.length,
    body: showsPeople ? body : null,
    response: showsPeople ? response : null,
  };
}

/** From here on a status refuses the whole request. */
const FIRST_REFUSAL = 400;

/** Every list of objects in a body holds items; what the response says nothing about was accepted. */
function itemsOf(body: unknown, notes: readonly Note[], isRefused: boolean): LiveRequest["items"] {
  const noteAt = new Map(notes.map((note) => [`${note.input_array} ${note.index}`, note]));
  const lists = Object.entries(isObject(body) ? body : {}).filter(([, list]) =>
    Array.isArray(list),
  );
  const items = lists.flatMap(([kind, list]) =>
    (list as unknown[]).slice(0, MOST_ITEMS).map((item, index) => {
      const note = noteAt.get(`${kind} ${index}`);
      return {
        index,
        kind,
        accepted: note === undefined && !isRefused,
        code: note?.code ?? null,
        message: note?.message ?? null,
        user: userOf(item),
      };
    }),
  );
  return items.slice(0, MOST_ITEMS);
}

function userOf(item: unknown): string | null {
  if (typeof item === "string") return item;
  if (!isObject(item)) return null;
  const { external_id, user_alias, email, phone, braze_id, platform_id } = item;
  const alias = isObject(user_alias)
    ? `${user_alias.alias_label}:${user_alias.alias_name}`
    : undefined;
  const found = [external_id, alias, email, phone, platform_id, braze_id];
  return (found.find((each) => typeof each === "string") as string | undefined) ?? null;
}

const notesIn = (response: unknown): Note[] =>
  isObject(response)
    ? [response.errors, response.skipped]
        .flatMap((list) => (Array.isArray(list) ? list : []))
        .filter(isObject)
    : [];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parsed(text: string | undefined): unknown {
  if (text === undefined || text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, or not readable: that is why the request was refused.
    return text;
  }
}
