import { Button, Loader } from "@mantine/core";
import {
  type ColumnDef,
  createSortedRowModel,
  type Row,
  type RowData,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_text,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { numberText } from "./numbers.ts";

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { text: sortFn_text, alphanumeric: sortFn_alphanumeric },
});

declare module "@tanstack/react-table" {
  interface ColumnMeta<TFeatures, TData extends RowData, TValue> {
    /** Such as `10rem` on a wide screen; the others share the rest. */
    width?: string;
    /** Numbers. */
    end?: boolean;
    /** Cut off rather than wrapped. */
    oneLine?: boolean;
  }
}

/** A column with an `accessorFn` can be sorted by its value. */
export type Column<Entry extends RowData> = ColumnDef<typeof features, Entry, unknown>;

/** The pages after the loaded ones. */
export interface MorePages {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Whether the last try failed: the next one is the person's. */
  readonly hasFailed: boolean;
  load(): void;
}

interface DataTableProps<Entry extends RowData> {
  readonly label: string;
  readonly columns: readonly Column<Entry>[];
  readonly rows: readonly Entry[];
  keyOf(row: Entry): string;
  readonly more?: MorePages;
  /** The server sorts: by a column with an `accessorFn`, "-" reverses it; empty is its own order. */
  readonly order?: { readonly by: string; change(by: string): void } | undefined;
  /** Whether there are more rows that are not loaded: sorting these would hide them. */
  readonly isCutOff?: boolean;
  /** What an open row shows below itself. Its first cell then has a RowButton. */
  readonly detail?: ((row: Entry) => ReactNode) | undefined;
  readonly openKey?: string | undefined;
  /** Whether a row links somewhere: its first cell has a link of class `row-link`. */
  readonly opens?: boolean | undefined;
  readonly empty: ReactNode;
}

/** Rows beyond the screen that are drawn too, so that fast scrolling shows no gap. */
const OVERSCAN = 12;

/** A list that needs no more than this many rows is drawn whole: the browser's own search finds everything in it. */
const DRAWN_WHOLE = 60;

/**
 * The one table. It draws only the rows of a long list that are on the screen, and loads the next
 * page near the end: a list of a million rows scrolls like one of fifty. Rows may be of any height.
 * On a phone a row is a block: its first cell, and below it the others with the names of their
 * columns (styles/table.css).
 */
export function DataTable<Entry extends RowData>(props: DataTableProps<Entry>) {
  const { rows, keyOf, columns, more, order, isCutOff = false, empty } = props;
  const sorting = order?.by
    ? [{ id: order.by.replace("-", ""), desc: order.by.startsWith("-") }]
    : [];
  const table = useTable({
    features,
    columns: columns as Column<Entry>[],
    data: rows as Entry[],
    getRowId: keyOf,
    defaultColumn: { sortUndefined: "last" },
    enableSorting: order !== undefined || (more === undefined && !isCutOff),
    ...(order && {
      manualSorting: true,
      state: { sorting },
      onSortingChange: (next) => {
        const [by] = typeof next === "function" ? next(sorting) : next;
        order.change(by ? `${by.desc ? "-" : ""}${by.id}` : "");
      },
    }),
  });
  const isWhole = rows.length <= DRAWN_WHOLE;
  // A reader of the screen is told of rows that are not drawn; -1: how many there are is not known yet.
  const rowCount = isWhole ? undefined : more?.hasMore ? -1 : rows.length + 1;
  if (rows.length === 0 && !more?.hasMore) return <div className="table-frame">{empty}</div>;
  return (
    <>
      <div className="table-frame">
        <table className="table" aria-label={props.label} aria-rowcount={rowCount}>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id} aria-rowindex={isWhole ? undefined : 1}>
                {group.headers.map((header) => {
                  const meta = header.column.columnDef.meta;
                  const sorted = header.column.getIsSorted();
                  return (
                    <th
                      key={header.id}
                      scope="col"
                      aria-sort={sorted ? ORDERS[sorted] : undefined}
                      className={classesOf(meta)}
                      style={meta?.width ? { width: meta.width } : undefined}
                    >
                      {header.column.getCanSort() ? (
                        <button
                          type="button"
                          className="sort"
                          onClick={header.column.getToggleSortingHandler()}
                        >
                          <table.FlexRender header={header} />
                          {sorted === "asc" && <ArrowUp size={12} aria-hidden />}
                          {sorted === "desc" && <ArrowDown size={12} aria-hidden />}
                        </button>
                      ) : (
                        <table.FlexRender header={header} />
                      )}
                    </th>
                  );
                })}
              </tr>
            ))}
          </thead>
          <Rows {...props} drawn={table.getRowModel().rows} draw={table.FlexRender} />
        </table>
      </div>
      <ListFoot count={rows.length} more={more} />
    </>
  );
}

const ORDERS = { asc: "ascending", desc: "descending" } as const;

type Drawn<Entry extends RowData> = Row<typeof features, Entry>;

interface RowsProps<Entry extends RowData> extends DataTableProps<Entry> {
  readonly drawn: readonly Drawn<Entry>[];
  // biome-ignore lint/suspicious/noExplicitAny: the library's own type is of one cell
  readonly draw: (props: any) => ReactNode;
}

function Rows<Entry extends RowData>(props: RowsProps<Entry>) {
  const { drawn, more, columns, detail, opens, openKey, draw } = props;
  const begin = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const top = begin.current?.getBoundingClientRect().top ?? 0;
    setOffset(Math.round(top + window.scrollY));
  }, []);
  const virtualizer = useWindowVirtualizer({
    count: drawn.length,
    estimateSize: () => 41,
    overscan: OVERSCAN,
    scrollMargin: offset,
    getItemKey: (index) => drawn[index]?.id ?? index,
    enabled: drawn.length > DRAWN_WHOLE,
  });
  const items = virtualizer.getVirtualItems();
  const isWhole = drawn.length <= DRAWN_WHOLE;
  const last = isWhole ? drawn.length - 1 : (items.at(-1)?.index ?? 0);
  const isNearEnd = last >= drawn.length - OVERSCAN;
  useEffect(() => {
    const isWanted = isNearEnd && !isWhole && more?.hasMore;
    if (isWanted && !more.isLoading && !more.hasFailed) more.load();
  }, [isNearEnd, isWhole, more]);

  const shown = isWhole ? drawn.map((_, index) => index) : items.map(({ index }) => index);
  const before = isWhole ? 0 : (items[0]?.start ?? offset) - offset;
  const after = isWhole ? 0 : virtualizer.getTotalSize() - ((items.at(-1)?.end ?? offset) - offset);
  return (
    <>
      <tbody ref={begin} className="spacer" aria-hidden>
        <Spacer height={before} columns={columns.length} />
      </tbody>
      {shown.map((index) => {
        const row = drawn[index];
        return row ? (
          <tbody key={row.id} data-index={index} ref={virtualizer.measureElement}>
            <OneRow
              row={row}
              place={isWhole ? undefined : index + 2}
              isOpen={detail !== undefined && row.id === openKey}
              detail={detail}
              opens={opens}
              columns={columns}
              draw={draw}
            />
          </tbody>
        ) : null;
      })}
      {after > 0 && (
        <tbody className="spacer" aria-hidden>
          <Spacer height={after} columns={columns.length} />
        </tbody>
      )}
    </>
  );
}

const Spacer = ({ height, columns }: { readonly height: number; readonly columns: number }) => (
  <tr>
    <td colSpan={columns} style={{ height }} />
  </tr>
);

interface OneRowProps<Entry extends RowData>
  extends Pick<RowsProps<Entry>, "detail" | "opens" | "columns" | "draw"> {
  readonly row: Drawn<Entry>;
  /** Among all rows of the table, from 1, if not all are drawn. */
  readonly place: number | undefined;
  readonly isOpen: boolean;
}

function DrawnRow<Entry extends RowData>(props: OneRowProps<Entry>) {
  const { row, place, detail, isOpen, opens, columns, draw: Draw } = props;
  return (
    <>
      <tr className={opens || detail ? "opens" : undefined} aria-rowindex={place}>
        {row.getAllCells().map((cell) => (
          <td
            key={cell.id}
            className={classesOf(cell.column.columnDef.meta)}
            data-label={labelOf(cell.column.columnDef.header)}
          >
            <Draw cell={cell} />
          </td>
        ))}
      </tr>
      {isOpen && (
        <tr className="detail">
          <td colSpan={columns.length}>{detail?.(row.original)}</td>
        </tr>
      )}
    </>
  );
}

/** Scrolling draws the rows that come onto the screen, and no other one again. */
const OneRow = memo(DrawnRow) as typeof DrawnRow;

/** The name of a column before its value on a phone; the buttons at the end need none. */
const labelOf = (header: unknown): string | undefined =>
  typeof header === "string" ? header : undefined;

interface Look {
  readonly end?: boolean;
  readonly oneLine?: boolean;
}

function classesOf(meta: Look | undefined): string | undefined {
  const names = [meta?.end && "end", meta?.oneLine && "one-line"];
  return names.filter(Boolean).join(" ") || undefined;
}

interface ListFootProps {
  readonly count: number;
  readonly more: MorePages | undefined;
}

/** The number of shown rows, and a button for people who do not scroll. */
export function ListFoot({ count, more }: ListFootProps) {
  if (!more) return null;
  return (
    <div className="table-foot" role="status">
      {more.isLoading ? (
        <Loader size="xs" aria-label="Loading more" />
      ) : (
        <span>
          {`${numberText(count)} ${more.hasMore ? "shown" : "in total"}`}
          {more.hasFailed && ". The next ones could not be loaded."}
        </span>
      )}
      {more.hasMore && !more.isLoading && (
        <Button variant="default" size="compact-sm" onClick={more.load}>
          {more.hasFailed ? "Try again" : "Load more"}
        </Button>
      )}
    </div>
  );
}
