import { Button, Loader } from "@mantine/core";
import {
  type ColumnDef,
  createSortedRowModel,
  type Row,
  type RowData,
  rowSortingFeature,
  type Column as SortedColumn,
  sortFn_alphanumeric,
  sortFn_text,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { numberText } from "./numbers.ts";

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { text: sortFn_text, alphanumeric: sortFn_alphanumeric },
});

type Cell<Entry> = (entry: Entry) => ReactNode;

interface Look<Entry> {
  /** Such as `10rem` on a wide screen; the others share the rest. */
  readonly width?: string | undefined;
  /** Numbers. */
  readonly end?: boolean;
  /** Cut off rather than wrapped. */
  readonly oneLine?: boolean;
  /** The member, or the value, of a row that people can sort by. */
  readonly sortBy?: keyof Entry | ((entry: Entry) => unknown) | undefined;
  /** The name by which a server sorts; its header by default. */
  readonly id?: string;
  /** Whether only readers of screens need the header. */
  readonly hidesHeader?: boolean;
}

export interface Column<Entry> extends Look<Entry> {
  readonly header: string;
  readonly cell: Cell<Entry>;
}

/** A column: its header, its look if it has one of its own, and what it shows of a row. */
export function column<Entry>(
  header: string,
  ...rest: [cell: Cell<Entry>] | [look: Look<Entry>, cell: Cell<Entry>]
): Column<Entry> {
  const [look, cell] = rest.length === 1 ? [{}, rest[0]] : rest;
  return { ...look, header, cell };
}

/** The column at the end with the buttons of each row. */
export const actions = <Entry,>(width: string, cell: Cell<Entry>): Column<Entry> =>
  column("Actions", { width, end: true, hidesHeader: true }, cell);

const idOf = <Entry,>({ id, header }: Column<Entry>): string => id ?? header;

/** What the library sorts by. */
const sortedAs = <Entry extends RowData>(
  each: Column<Entry>,
): ColumnDef<typeof features, Entry> => {
  const { sortBy } = each;
  if (sortBy === undefined) return { id: idOf(each) };
  const value = typeof sortBy === "function" ? sortBy : (entry: Entry) => entry[sortBy];
  return { id: idOf(each), accessorFn: (entry) => value(entry) ?? undefined };
};

/** The pages after the loaded ones. */
export interface MorePages {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Whether the last try failed: the next one is the person's. */
  readonly hasFailed: boolean;
  load(): void;
}

export interface DataTableProps<Entry extends RowData> {
  readonly label: string;
  readonly columns: readonly Column<Entry>[];
  readonly rows: readonly Entry[];
  keyOf(row: Entry): string;
  readonly more?: MorePages;
  /** The server sorts: by a column with `sortBy`, "-" reverses it; empty is its own order. */
  readonly order?: { readonly by: string; change(by: string): void } | undefined;
  /** Whether there are more rows that are not loaded: sorting these would hide them. */
  readonly isCutOff?: boolean;
  /** What an open row shows below itself: each row is a button then. */
  readonly detail?: (row: Entry) => ReactNode;
  readonly openKey?: string | undefined;
  /** Opens a row, or closes the open one. */
  setOpen?(key: string | undefined): void;
  /** Whether a row links somewhere: its first cell has a link of class `row-link`. */
  readonly opens?: boolean | undefined;
  /** What is shown if there is no row. */
  readonly empty?: ReactNode;
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
  const sorted = useMemo(() => columns.map(sortedAs), [columns]);
  const table = useTable({
    features,
    columns: sorted,
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
            <tr aria-rowindex={isWhole ? undefined : 1}>
              {columns.map((each) => (
                <Head key={idOf(each)} column={each} sorting={table.getColumn(idOf(each))} />
              ))}
            </tr>
          </thead>
          <Rows {...props} drawn={table.getRowModel().rows} />
        </table>
      </div>
      <ListFoot count={rows.length} more={more} />
    </>
  );
}

const ORDERS = { asc: "ascending", desc: "descending" } as const;

interface HeadProps<Entry extends RowData> {
  readonly column: Column<Entry>;
  readonly sorting: SortedColumn<typeof features, Entry> | undefined;
}

function Head<Entry extends RowData>({ column: each, sorting }: HeadProps<Entry>) {
  const { header, width, hidesHeader } = each;
  const sorted = sorting?.getIsSorted();
  return (
    <th
      scope="col"
      aria-sort={sorted ? ORDERS[sorted] : undefined}
      className={classesOf(each)}
      style={width ? { width } : undefined}
    >
      {sorting?.getCanSort() ? (
        <button type="button" className="sort" onClick={sorting.getToggleSortingHandler()}>
          {header}
          {sorted === "asc" && <ArrowUp size={12} aria-hidden />}
          {sorted === "desc" && <ArrowDown size={12} aria-hidden />}
        </button>
      ) : (
        <span className={hidesHeader ? "hidden" : undefined}>{header}</span>
      )}
    </th>
  );
}

type Drawn<Entry extends RowData> = Row<typeof features, Entry>;

interface RowsProps<Entry extends RowData> extends DataTableProps<Entry> {
  readonly drawn: readonly Drawn<Entry>[];
}

function Rows<Entry extends RowData>(props: RowsProps<Entry>) {
  const { drawn, more, columns, detail, opens, openKey, setOpen } = props;
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
              setOpen={setOpen}
              opens={opens}
              columns={columns}
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

interface OneRowProps<Entry extends RowData> extends Pick<RowsProps<Entry>, "opens" | "columns"> {
  readonly row: Drawn<Entry>;
  /** Among all rows of the table, from 1, if not all are drawn. */
  readonly place: number | undefined;
  readonly isOpen: boolean;
  readonly detail: DataTableProps<Entry>["detail"];
  readonly setOpen: DataTableProps<Entry>["setOpen"];
}

function DrawnRow<Entry extends RowData>(props: OneRowProps<Entry>) {
  const { row, place, detail, isOpen, setOpen, opens, columns } = props;
  return (
    <>
      <tr className={opens || detail ? "opens" : undefined} aria-rowindex={place}>
        {columns.map((each, index) => (
          // On a phone the name of the column stands before its value; buttons need none.
          <td
            key={idOf(each)}
            className={classesOf(each)}
            data-label={each.hidesHeader ? undefined : each.header}
          >
            {detail && index === 0 ? (
              <button
                type="button"
                className="row-link clamped"
                aria-expanded={isOpen}
                onClick={() => setOpen?.(isOpen ? undefined : row.id)}
              >
                {each.cell(row.original)}
              </button>
            ) : (
              each.cell(row.original)
            )}
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

function classesOf<Entry>({ end, oneLine }: Look<Entry>): string | undefined {
  const names = [end && "end", oneLine && "one-line"];
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
