import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { type Locale, type Message, useTranslate } from "../../api/messages.ts";
import { useMissing } from "../../components/permitted.tsx";
import type { Draft } from "./cell.tsx";

/* Moving between the cells of the grid, editing one, and saving it. */

interface Place {
  readonly row: number;
  readonly column: number;
}

export interface CellsOf {
  readonly message: Message;
  readonly locales: readonly Locale[];
  /** The ids of the strings that are shown, a row each. */
  readonly keys: readonly string[];
  readonly frame: { readonly current: HTMLElement | null };
  scrollTo(row: number): void;
}

/** Rows that Page Up and Page Down pass. */
const PAGE_ROWS = 10;

export function useCells({ message, locales, keys, frame, scrollTo }: CellsOf) {
  const missing = useMissing("send_campaigns_canvases");
  const [active, setActive] = useState<Place>({ row: 0, column: 0 });
  const [isEditing, setEditing] = useState(false);
  const { drafts, done, textOf, setDraft, save } = useDrafts(message);
  // A cell far away is drawn only once the grid has scrolled to it: it gets the focus then.
  const isFocusWanted = useRef(false);
  useEffect(() => {
    if (!isFocusWanted.current) return;
    const cell = frame.current?.querySelector<HTMLElement>(`[data-cell="${placeName(active)}"]`);
    if (!cell) return;
    isFocusWanted.current = false;
    cell.focus();
  });

  const go = (row: number, column: number) => {
    const place = {
      row: clamp(row, keys.length - 1),
      column: clamp(column, locales.length - 1),
    };
    isFocusWanted.current = true;
    setEditing(false);
    setActive(place);
    scrollTo(place.row);
  };

  const edit = (place: Place, text: string) => {
    const [key, locale] = [keys[place.row], locales[place.column]];
    if (key === undefined || !locale) return;
    setActive(place);
    if (missing !== undefined) return;
    setEditing(true);
    setDraft(draftName(key, locale), { text, isSaving: false, error: undefined });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const { row, column } = active;
    const last = { row: keys.length - 1, column: locales.length - 1 };
    const place = MOVES[event.key]?.(active, last, event.ctrlKey || event.metaKey);
    if (place) {
      go(place.row, place.column);
    } else {
      const [key, locale] = [keys[row], locales[column]];
      if (key === undefined || !locale) return;
      const text = textOf(key, locale);
      const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
      if (event.key === "Enter" || event.key === "F2") edit(active, text);
      else if (isPlain && event.key.length === 1) edit(active, text + event.key);
      else return;
    }
    event.preventDefault();
  };

  return {
    active,
    isEditing,
    drafts,
    done,
    /** Why the person may not translate; undefined if they may. */
    missing,
    go,
    edit,
    save,
    setActive,
    setDraft,
    onKeyDown,
    setEditing,
  };
}

/** Typed text in cells that is not stored yet. */
function useDrafts(message: Message) {
  const translate = useTranslate(message.id);
  const [drafts, setDrafts] = useState<ReadonlyMap<string, Draft>>(new Map());
  const [done, setDone] = useState("");

  const storedText = (key: string, locale: Locale): string =>
    message.translations[locale.locale_key]?.[key] ?? "";

  const setDraft = (name: string, draft: Draft | undefined) =>
    setDrafts((all) => {
      const changed = new Map(all);
      if (draft) changed.set(name, draft);
      else changed.delete(name);
      return changed;
    });

  const save = async (key: string, locale: Locale): Promise<void> => {
    const name = draftName(key, locale);
    const draft = drafts.get(name);
    if (!draft || draft.isSaving) return;
    const { text } = draft;
    if (text === storedText(key, locale)) {
      setDraft(name, undefined);
      return;
    }
    setDraft(name, { text, isSaving: true, error: undefined });
    try {
      await translate(locale, key, text);
      setDraft(name, undefined);
      setDone(`Saved ${key} in ${locale.name}.`);
    } catch (error) {
      setDraft(name, { text, isSaving: false, error: messageOf(error) });
    }
  };

  const textOf = (key: string, locale: Locale): string =>
    drafts.get(draftName(key, locale))?.text ?? storedText(key, locale);

  return { drafts, done, textOf, setDraft, save };
}

export const draftName = (key: string, locale: Locale): string => `${locale.id} ${key}`;

export const placeName = ({ row, column }: Place): string => `${row}:${column}`;

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most));

/** Where a key leads: the keys of a grid (WAI-ARIA Authoring Practices). */
const MOVES: Readonly<Record<string, (at: Place, last: Place, isFar: boolean) => Place>> = {
  ArrowDown: ({ row, column }) => ({ row: row + 1, column }),
  ArrowUp: ({ row, column }) => ({ row: row - 1, column }),
  ArrowRight: ({ row, column }) => ({ row, column: column + 1 }),
  ArrowLeft: ({ row, column }) => ({ row, column: column - 1 }),
  PageDown: ({ row, column }) => ({ row: row + PAGE_ROWS, column }),
  PageUp: ({ row, column }) => ({ row: row - PAGE_ROWS, column }),
  Home: ({ row }, _, isFar) => ({ row: isFar ? 0 : row, column: 0 }),
  End: ({ row }, last, isFar) => ({ row: isFar ? last.row : row, column: last.column }),
};
