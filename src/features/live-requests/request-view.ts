import Type, { type Static } from "typebox";
import { isObject } from "../../core/base/values/plain-json.ts";
import { Text, TextOrNull } from "../../core/base/values/schemas.ts";
import { type GivenNote, itemListsOf, notesOnItems, placeOf } from "../../core/base/verdicts.ts";
import { isRefusal } from "../../core/http/respond.ts";
import type { KeptRequest } from "./request-log.ts";

/* The view of a kept request: the items of its body, each with the verdict from the response. */

const LiveItem = Type.Object({
  index: Type.Integer({ description: "Its place in its list, from 0." }),
  kind: Text("The list with the item.", "events"),
  accepted: Type.Boolean({ description: "Whether it took effect." }),
  code: TextOrNull("Why not.", "INVALID_TIME"),
  message: TextOrNull(
    "The same as a sentence; null without view_pii.",
    "'time' must be a date in ISO 8601",
  ),
  user: TextOrNull("The user that it names; null without view_pii.", "ada"),
});

export const LiveRequest = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The newer, the greater." }),
    at: Text("When it was answered, in ISO 8601.", "2026-01-01T12:00:00.000Z"),
    method: Text("The HTTP method.", "POST"),
    path: Text(
      "Without the query. As declared for callers without view_pii: a parameter may name a user.",
      "/users/track",
    ),
    status: Type.Integer({ description: "The HTTP status.", examples: [201] }),
    duration_ms: Type.Number({ description: "How long it took.", examples: [4.2] }),
    server: Text("The server process that answered it.", "app-1 (process 4711)"),
    key: Type.Object(
      {
        id: Type.String({ description: "The id of the key." }),
        name: Text("Its name.", "backend"),
      },
      { description: "The API key." },
    ),
    items: Type.Array(LiveItem, { description: "At most 200; none if the body was too large." }),
    rejected: Type.Integer({ minimum: 0, description: "How many items were rejected or skipped." }),
    code: TextOrNull("Why the request was refused as a whole.", "INVALID_LOCALE_ID"),
    body: Type.Unknown({
      description: "The body; null without view_pii, and if it had more than 64 KB.",
    }),
    response: Type.Unknown({
      description: "The response; null without view_pii, and if it was long.",
    }),
  },
  { title: "LiveRequest", description: "A request of an API key." },
);

export type LiveRequest = Static<typeof LiveRequest>;

const MOST_ITEMS = 200;

/** @param showsPeople whether personal data may be shown. */
export function viewOf(kept: KeptRequest, showsPeople: boolean): LiveRequest {
  const body = parsed(kept.body?.toString("utf8"));
  const response = parsed(kept.response);
  const lists = itemListsOf(body);
  const noted = notesOnItems(lists, kept.notes);
  return {
    id: kept.id,
    at: kept.at.toISOString(),
    method: kept.method,
    path: showsPeople ? kept.path : kept.route,
    status: kept.status,
    duration_ms: Math.round(kept.durationMs * 10) / 10,
    server: kept.server,
    key: kept.key,
    items: itemsOf(lists, noted, isRefusal(kept.status)).map((item) =>
      // A message quotes the refused value.
      showsPeople ? item : { ...item, user: null, message: null },
    ),
    rejected: kept.rejected,
    code: codeOf(kept, response, noted),
    body: showsPeople ? body : null,
    response: showsPeople ? response : null,
  };
}

/** The code of a refusal that is about no item. */
function codeOf(
  { status, notes }: KeptRequest,
  response: unknown,
  noted: ReadonlyMap<string, GivenNote>,
): string | null {
  if (!isRefusal(status)) return null;
  const onItems = new Set(noted.values());
  const own = notes.find((note) => note.code !== undefined && !onItems.has(note));
  const code = own?.code ?? (isObject(response) ? response.code : undefined);
  return typeof code === "string" ? code : null;
}

/** Items that the response does not mention were accepted. */
function itemsOf(
  lists: ReturnType<typeof itemListsOf>,
  noted: ReadonlyMap<string, GivenNote>,
  isRefused: boolean,
): LiveRequest["items"] {
  const items = lists.flatMap(([kind, list]) =>
    list.slice(0, MOST_ITEMS).map((item, index) => {
      const note = noted.get(placeOf(kind, index));
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
  if (!isObject(item)) return nameOf(item) ?? null;
  const { external_id, user_alias, email, phone, braze_id, platform_id } = item;
  const names = [external_id, aliasOf(user_alias), email, phone, platform_id, braze_id];
  return names.map(nameOf).find((name) => name !== undefined) ?? null;
}

/**
 * A name as intake reads it. A rejected item may have any JSON here, even an object that no text
 * can show.
 */
const nameOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

function aliasOf(alias: unknown): string | undefined {
  if (!isObject(alias)) return undefined;
  const [label, name] = [nameOf(alias.alias_label), nameOf(alias.alias_name)];
  return label === undefined || name === undefined ? undefined : `${label}:${name}`;
}

function parsed(text: string | undefined): unknown {
  if (text === undefined || text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, or unreadable: that is why the request was refused.
    return text;
  }
}
