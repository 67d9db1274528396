import type { RowData } from "@tanstack/react-table";
import { useMemo } from "react";
import { morePages, type Pages } from "../api/pages.ts";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { type Loadable, Loaded } from "./states.tsx";

/* Tables of what queries read, with their states while there is nothing to show. */

export interface LoadedTableProps<Body, Entry extends RowData>
  extends Omit<DataTableProps<Entry>, "rows" | "more"> {
  readonly from: Loadable<Body>;
  /** The lines that are shown while it loads. */
  readonly lines?: number | undefined;
  rows(body: Body): readonly Entry[];
}

/** A list that is read whole. */
export const LoadedTable = <Body, Entry extends RowData>(props: LoadedTableProps<Body, Entry>) => {
  const { from, lines, rows, ...table } = props;
  return (
    <Loaded from={from} lines={lines}>
      {(body) => <DataTable {...table} rows={rows(body)} />}
    </Loaded>
  );
};

interface PagedTableProps<Page, Entry extends RowData>
  extends Omit<DataTableProps<Entry>, "rows" | "more"> {
  readonly from: Loadable<{ readonly pages: readonly Page[] }> & Pages;
  readonly lines?: number | undefined;
  rows(page: Page, place: number): readonly Entry[];
}

/** A list that is read page by page. */
export function PagedTable<Page, Entry extends RowData>(props: PagedTableProps<Page, Entry>) {
  const { from, lines, rows, ...table } = props;
  const { data } = from;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what `rows` finds in a page stays the same
  const all = useMemo(() => data?.pages.flatMap(rows) ?? [], [data]);
  return (
    <Loaded from={from} lines={lines}>
      {() => <DataTable {...table} rows={all} more={morePages(from)} />}
    </Loaded>
  );
}
