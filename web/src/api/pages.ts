import type { MorePages } from "../components/data-table.tsx";

export interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  fetchNextPage(): unknown;
}

/** A table's view of a list that is read in pages. */
export const morePages = (pages: Pages): MorePages => ({
  hasMore: pages.hasNextPage,
  isLoading: pages.isFetchingNextPage,
  hasFailed: pages.isFetchNextPageError,
  load: () => void pages.fetchNextPage(),
});

/** The options of a list whose pages name the next one as `next_cursor`. */
export const BY_CURSOR = {
  pageParamName: "cursor",
  // Omitted from the request; undefined would be sent as 0.
  initialPageParam: null as string | null,
  getNextPageParam: (page: { readonly next_cursor?: string }) => page.next_cursor,
};

/** What a query names, without what is empty there. */
export const filled = <Query extends object>(query: Query) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value)) as {
    [Name in keyof Query]?: Exclude<Query[Name], undefined | "">;
  };
