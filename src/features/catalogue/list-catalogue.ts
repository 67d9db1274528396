import { DAY_MS } from "../../core/base/clock.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import {
  forwardPage,
  opaqueCursor,
  type Page,
  readOpaque,
  readPage,
} from "../../core/base/pages.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { type Catalogue, firstShownDay, SHOWN_DAYS } from "./catalogue.ts";
import type { CatalogueKind } from "./kinds.ts";
import { type CatalogueEntry, selectDays, selectEntries } from "./store.ts";

export type CatalogueServices = StoringServices & { readonly catalogue: Catalogue };

/** As publicly known. */
const NAMES_OF_A_PAGE = 250;

/** Names in alphabetical order, from page 0 on. */
export async function listNames(
  { database, catalogue }: CatalogueServices,
  { workspace }: WorkspaceContext,
  kind: CatalogueKind,
  page: number,
): Promise<string[]> {
  await catalogue.write();
  const entries = await selectEntries(database, workspace.id, {
    kind,
    limit: NAMES_OF_A_PAGE,
    offset: page * NAMES_OF_A_PAGE,
  });
  return entries.map(({ name }) => name);
}

const ENTRIES_OF_A_PAGE = 50;

/** A page of entries, with links to others. @throws Problem INVALID_REQUEST `Invalid cursor` */
export async function pageOfEntries(
  { database, catalogue }: CatalogueServices,
  { workspace }: WorkspaceContext,
  kind: CatalogueKind,
  path: string,
  cursor: string | undefined,
): Promise<Page<CatalogueEntry>> {
  await catalogue.write();
  return readPage<CatalogueEntry>(
    {
      path,
      pageSize: ENTRIES_OF_A_PAGE,
      keyOf: ({ name }) => name,
      isKey: (text) => !text.includes("\0"),
      select: (beyond, isForward, limit) =>
        selectEntries(database, workspace.id, { kind, beyond, isForward, limit }),
    },
    cursor,
  );
}

/** An entry with how often it was sent on each of the last days, today last. */
export type DatedEntry = CatalogueEntry & { readonly days: readonly number[] };

export interface WantedCatalogue {
  readonly kind: CatalogueKind;
  readonly search?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/**
 * The catalogue of a workspace, by name, each entry with its last days. @throws Problem
 * INVALID_REQUEST `Invalid cursor`
 */
export async function readCatalogue(
  { database, clock, catalogue }: CatalogueServices,
  { workspace }: WorkspaceContext,
  { kind, search, cursor, limit }: WantedCatalogue,
): Promise<{ readonly entries: readonly DatedEntry[]; readonly next: { next_cursor?: string } }> {
  const beyond = cursor === undefined ? undefined : readOpaque(cursor, /^(.+)$/s)[0];
  await catalogue.write();
  const wanted = { kind, search, beyond, limit: limit + 1 };
  const found = await selectEntries(database, workspace.id, wanted);
  const { rows, next } = forwardPage(found, limit, ({ name }) => opaqueCursor(name));
  const since = firstShownDay(clock.now());
  const names = rows.map(({ name }) => name);
  const days = new Map<string, number[]>();
  for (const { name, day, seen } of await selectDays(database, workspace.id, kind, names, since)) {
    const place = Math.round((Date.parse(day) - startOfDay(since)) / DAY_MS);
    const counts = days.get(name) ?? new Array<number>(SHOWN_DAYS).fill(0);
    // An event that another clock dates tomorrow counts as today's.
    const index = Math.min(place, SHOWN_DAYS - 1);
    counts[index] = (counts[index] ?? 0) + seen;
    days.set(name, counts);
  }
  const entries = rows.map((entry) => ({
    ...entry,
    days: days.get(entry.name) ?? new Array<number>(SHOWN_DAYS).fill(0),
  }));
  return { entries, next };
}

const startOfDay = (time: Date): number => Math.floor(time.getTime() / DAY_MS) * DAY_MS;
