import { type KeyboardEvent, useEffect, useRef } from "react";

/** Typed text in a cell that is not saved, or not yet, because the server refused it. */
export interface Draft {
  readonly text: string;
  readonly isSaving: boolean;
  readonly error: string | undefined;
}

interface CellProps {
  /** Its place, as `row:column`; both count from 0. */
  readonly place: string;
  /** The string and the locale, for readers of screens. */
  readonly label: string;
  readonly text: string;
  readonly draft: Draft | undefined;
  readonly isEditing: boolean;
  readonly isReadOnly: boolean;
  /** Whether Tab reaches it. */
  readonly isTabStop: boolean;
  focus(): void;
  edit(text: string): void;
  type(text: string): void;
  /** Ends the editing, saves, and goes on to a cell beside or below it. */
  leave(step?: { readonly rows?: number; readonly columns?: number }): void;
  cancel(): void;
}

/** One string in one locale: a text, and a field while it is edited. */
export function Cell(props: CellProps) {
  const { place, label, text, draft, isEditing, isTabStop, isReadOnly, focus, edit } = props;
  const shown = draft?.text ?? text;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles its keys
    <td
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a cell of a grid is interactive
      role="gridcell"
      className="cell"
      data-cell={place}
      data-state={stateOf(draft, shown)}
      aria-invalid={draft?.error ? true : undefined}
      aria-readonly={isReadOnly || undefined}
      tabIndex={isTabStop && !isEditing ? 0 : -1}
      onFocus={focus}
      onClick={() => !isEditing && edit(shown)}
    >
      {isEditing ? (
        <Field {...props} text={shown} />
      ) : (
        <div className="cell-text" dir="auto">
          {shown || "Missing"}
        </div>
      )}
      {draft?.error && (
        <div className="cell-error" role="alert">
          <span className="hidden">{label}: </span>
          {draft.error}
        </div>
      )}
    </td>
  );
}

function stateOf(draft: Draft | undefined, text: string): string {
  if (draft?.error) return "failed";
  if (draft?.isSaving) return "saving";
  return text === "" ? "missing" : "translated";
}

function Field({ label, text, type, leave, cancel }: CellProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const { current } = field;
    current?.focus();
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    // The grid moves between cells with the same keys that move within a text.
    event.stopPropagation();
    // An input method takes Enter and Escape for itself while it composes a word.
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) leave({ rows: 1 });
    else if (event.key === "Tab") leave({ columns: event.shiftKey ? -1 : 1 });
    else return;
    event.preventDefault();
  };
  return (
    <textarea
      ref={field}
      aria-label={label}
      dir="auto"
      rows={1}
      value={text}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={onKeyDown}
      onBlur={() => leave()}
    />
  );
}
