import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { Locale, Message } from "../../api/messages.ts";
import { countText } from "../../components/numbers.ts";
import { Tag } from "../../components/tag.tsx";
import { Cell } from "./cell.tsx";
import { missingIn } from "./shown-strings.ts";
import { draftName, placeName, useCells } from "./use-cells.ts";

interface GridProps {
  readonly message: Message;
  readonly locales: readonly Locale[];
  /** The ids of the strings that are shown. */
  readonly keys: readonly string[];
}

/** Rows beyond the frame that are drawn too. */
const OVERSCAN = 8;

/**
 * The strings of a message as rows and the locales as columns. Only the rows in the frame are drawn, so that a message
 * of 10,000 strings scrolls like one of ten. Arrow keys move, Enter edits, and Tab leaves the grid.
 */
export function Grid(props: GridProps) {
  const { message, locales, keys } = props;
  const frame = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 68,
    overscan: OVERSCAN,
    getItemKey: (index) => keys[index] ?? index,
    // The header covers as much of the frame as it moves the rows down.
    scrollPaddingEnd: 80,
  });
  const cells = useCells({ ...props, frame, scrollTo: (row) => virtualizer.scrollToIndex(row) });
  const items = virtualizer.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  // Tab enters the grid even if the active cell has been scrolled away.
  const isDrawn = items.some(({ index }) => index === cells.active.row);
  const tabRow = isDrawn ? cells.active.row : items[0]?.index;
  return (
    <>
      <section ref={frame} className="grid-frame" aria-label="Strings in all locales">
        <table
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is made of a table
          role="grid"
          className="table grid"
          aria-label="Translations"
          aria-rowcount={keys.length + 1}
          aria-readonly={cells.missing !== undefined}
          onKeyDown={cells.onKeyDown}
        >
          <Head message={message} locales={locales} />
          <tbody>
            <Spacer height={before} columns={locales.length + 1} />
            {items.map(({ index }) => (
              <Row
                key={keys[index]}
                {...props}
                row={index}
                cells={cells}
                isTabRow={index === tabRow}
                measure={virtualizer.measureElement}
              />
            ))}
            <Spacer height={after} columns={locales.length + 1} />
          </tbody>
        </table>
      </section>
      <div className="hidden" role="status">
        {cells.done}
      </div>
    </>
  );
}

const Spacer = ({ height, columns }: { readonly height: number; readonly columns: number }) =>
  height > 0 ? (
    <tr className="spacer" aria-hidden>
      <td colSpan={columns} style={{ height }} />
    </tr>
  ) : null;

type HeadProps = Pick<GridProps, "message" | "locales">;

function Head({ message, locales }: HeadProps) {
  const missing = useMemo(
    () => locales.map((locale) => missingIn(message, locale)),
    [message, locales],
  );
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th scope="col" className="grid-source">
          <strong>String</strong>
          <div>{countText(Object.keys(message.source).length)} in this message</div>
        </th>
        {locales.map(({ id, name, locale_key }, column) => (
          <th key={id} scope="col">
            <strong>{name}</strong> <span className="mono">{locale_key}</span>
            <div>
              <Missing count={missing[column] ?? 0} />
            </div>
          </th>
        ))}
      </tr>
    </thead>
  );
}

const Missing = ({ count }: { readonly count: number }) =>
  count > 0 ? <Tag tone="warn">{countText(count)} missing</Tag> : <Tag tone="good">Complete</Tag>;

interface RowProps extends GridProps {
  readonly row: number;
  readonly isTabRow: boolean;
  readonly cells: ReturnType<typeof useCells>;
  measure(element: HTMLElement | null): void;
}

function Row({ message, locales, keys, row, isTabRow, cells, measure }: RowProps) {
  const key = keys[row] ?? "";
  const { active } = cells;
  return (
    <tr data-index={row} ref={measure} aria-rowindex={row + 2}>
      <th scope="row" className="grid-source">
        <div className="grid-key">{key}</div>
        <div className="grid-text" dir="auto">
          {message.source[key]}
        </div>
      </th>
      {locales.map((locale, column) => {
        const isActive = row === active.row && column === active.column;
        const name = draftName(key, locale);
        return (
          <Cell
            key={locale.id}
            place={placeName({ row, column })}
            label={`${key} in ${locale.name}`}
            text={message.translations[locale.locale_key]?.[key] ?? ""}
            draft={cells.drafts.get(name)}
            isEditing={isActive && cells.isEditing}
            isTabStop={isTabRow && column === active.column}
            isReadOnly={cells.missing !== undefined}
            focus={() => !isActive && cells.setActive({ row, column })}
            edit={(text) => cells.edit({ row, column }, text)}
            type={(text) => cells.setDraft(name, { text, isSaving: false, error: undefined })}
            leave={(step) => {
              if (step) cells.go(row + (step.rows ?? 0), column + (step.columns ?? 0));
              else if (isActive) cells.setEditing(false);
              void cells.save(key, locale);
            }}
            cancel={() => {
              cells.setDraft(name, undefined);
              cells.go(row, column);
            }}
          />
        );
      })}
    </tr>
  );
}
