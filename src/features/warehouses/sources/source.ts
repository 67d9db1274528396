import type { Static, TObject, TProperties } from "typebox";
import {
  AnswerTooLarge,
  type HostAndPort,
  type Outbound,
} from "../../../core/outbound/outbound.ts";

/*
 * The parts of a source that a sync needs. A new kind of place is one file that implements this,
 * and a line in `kinds.ts`: manifest, API, JSON Schema, dashboard form and sealing follow.
 */

/** The settings of a kind, as its schemas describe them. */
type SettingsOf<Connection extends TProperties, Place extends TProperties> = Static<
  TObject<Connection>
> &
  Static<TObject<Place>> &
  Limits;

interface Limits {
  readonly root?: string;
}

interface SourceKind<
  Connection extends TProperties = TProperties,
  Place extends TProperties = TProperties,
> {
  /** The value of `type` that means it. */
  readonly type: string;
  /** Its name for people. */
  readonly label: string;
  /** How the warehouse is reached: the settings that a connection of the company declares. */
  readonly connection: Connection;
  /** Further settings of a connection: the `root` that its integrations stay below. */
  readonly limits?: TProperties;
  /** The place of the rows: the settings that an integration adds. */
  readonly place: Place;
  /** The secret settings of `connection`: they are sealed, and never shown or exported. */
  readonly secrets: readonly (keyof Connection & string)[];
  /**
   * The settings that may change while the other secrets stay: they do not say where secrets are
   * sent, or whose they are.
   */
  readonly free?: readonly (keyof Connection & string)[];
  /** Settings of the place of which a part says where secrets are sent, with that part of a value. */
  readonly hostIn?: Readonly<Record<string, (value: string) => string>>;
  /** A rule about several settings of the place. */
  readonly rule?: { holds(place: Static<TObject<Place>>): boolean; readonly sentence: string };
  /** A rule about several settings of the connection. */
  readonly login?: {
    holds(connection: Static<TObject<Connection>>): boolean;
    readonly sentence: string;
  };
  /** Identifies the rows, without secrets: progress stays valid while this stays the same. */
  placeOf(place: Static<TObject<Place>>): string;
  /** The hosts that are called, as far as the settings say. */
  hostsOf(warehouse: SettingsOf<Connection, Place>): readonly HostAndPort[];
  /** Whether a place is below the connection's `root`; absent if a connection has none. */
  isBelowRoot?(warehouse: SettingsOf<Connection, Place>): boolean;
  /**
   * Opens the source. When the signal is aborted, pending reads throw soon.
   *
   * @throws SourceUnfit; any other error is a failure that may be temporary.
   */
  open(warehouse: SettingsOf<Connection, Place>, opening: Opening): Promise<Source>;
  /**
   * Lists what may be read: values of the first setting of `place`. A place that is given may
   * narrow it.
   *
   * @throws as `open`.
   */
  list(
    warehouse: Static<TObject<Connection>> & Partial<Static<TObject<Place>>> & Limits,
    opening: Opening,
  ): Promise<TableList>;
}

/** Tables, views, files or folders, by name. */
export interface TableList {
  /** `MOST_TABLES` at most. */
  readonly tables: readonly string[];
  readonly hasMore: boolean;
}

const MOST_TABLES = 1_000;

/** One more than are listed shows that there are more. */
export const TABLES_LIMIT = MOST_TABLES + 1;

export const firstTables = (names: readonly string[], isCut = false): TableList => ({
  tables: names.slice(0, MOST_TABLES),
  hasMore: isCut || names.length > MOST_TABLES,
});

export interface Opening {
  readonly signal: AbortSignal;
  /**
   * The guard for every connection to another host; `UNGUARDED` for sources that the administrator
   * declared inline.
   */
  readonly outbound: Outbound;
}

/** Everything that opens a source: the settings of a kind, checked by its schemas. */
export interface Warehouse {
  readonly type: string;
  readonly [setting: string]: unknown;
}

interface Rule {
  holds(settings: unknown): boolean;
  readonly sentence: string;
}

/** A kind whose settings its schemas have checked. */
export interface AnyKind
  extends Pick<SourceKind, "type" | "label" | "connection" | "limits" | "place" | "hostIn"> {
  readonly secrets: readonly string[];
  readonly free?: readonly string[];
  readonly rule?: Rule;
  readonly login?: Rule;
  placeOf(place: object): string;
  hostsOf(warehouse: object): readonly HostAndPort[];
  isBelowRoot?(warehouse: object): boolean;
  open(warehouse: object, opening: Opening): Promise<Source>;
  list(warehouse: object, opening: Opening): Promise<TableList>;
}

/** Declares a kind; its settings are typed by its schemas. */
export const sourceKind = <const Connection extends TProperties, const Place extends TProperties>(
  kind: SourceKind<Connection, Place>,
): AnyKind => kind as unknown as AnyKind;

/** An opened table, or files of one format. */
export interface Source {
  /** Undefined if there is nothing to read, such as a folder without files. */
  readonly columns: readonly SourceColumn[] | undefined;
  /** Makes ready to read the rows of a range. */
  select(shape: TableShape, range: TimeRange): Promise<Selection>;
  close(): Promise<void>;
  /** The bytes that the warehouse says it has scanned so far; absent if it does not say. */
  bytesScanned?(): number;
}

export interface Selection {
  readonly count: number;
  /** The rows in the order of UPDATED_AT, a few hundred at a time. */
  rows(): AsyncIterable<readonly SourceRow[]>;
  /** Rows in no range: rows without an UPDATED_AT, and rows later than `after`. */
  strays(after: string, atMost: number): Promise<Strays>;
}

export interface SourceColumn {
  /** As spelled in the source. */
  readonly name: string;
  /** Whether its values can be read as times. */
  readonly isTime: boolean;
  /** Whether its values have one canonical text form. */
  readonly isText: boolean;
  /** Whether its values have members or elements, which are read as JSON. */
  readonly isNested?: boolean;
}

/** The columns that name a person; `braze_id` is read as `platform_id`. */
export const IDENTIFIER_COLUMNS = [
  "external_id",
  "alias_name",
  "alias_label",
  "platform_id",
  "email",
  "phone",
] as const;

export type IdentifierColumn = (typeof IDENTIFIER_COLUMNS)[number];

/** Which column of a table plays which part. */
export interface TableShape {
  readonly updatedAt: SourceColumn;
  readonly identifiers: readonly (SourceColumn & { readonly part: IdentifierColumn })[];
  /** Undefined in a table of deletions. */
  readonly payload: SourceColumn | undefined;
}

/**
 * Times are texts of one form, `2026-01-31T12:00:00.123456Z`, because a `Date` cannot hold
 * microseconds and a boundary must be met exactly. They compare as texts.
 */
export interface TimeRange {
  /** Inclusive. */
  readonly from: string;
  /** Inclusive. */
  readonly until: string;
}

/** Before every time that can be written in that form. */
export const BEGINNING = "0001-01-01T00:00:00.000000Z";

/** A time of Rapport in the form of the source's: the last microsecond of its millisecond. */
export const sourceTime = (date: Date): string => date.toISOString().replace("Z", "999Z");

export interface SourceRow {
  readonly updatedAt: string;
  readonly identifiers: Identifiers;
  /** Null if the source has none, or if it is larger than `LARGEST_PAYLOAD_BYTES`. */
  readonly payload: string | null;
  /** In UTF-8, also for one that is too large. */
  readonly payloadBytes: number;
}

export type Identifiers = Readonly<Partial<Record<IdentifierColumn, string>>>;

/** 1 MB. decision: docs/decisions/warehouse-rows.md */
export const LARGEST_PAYLOAD_BYTES = 1_048_576;

/**
 * How many characters of an identifier are read. Longer ones are invalid, so the rest of them never leaves the source: the
 * row is rejected for its length.
 */
export const LONGEST_READ_IDENTIFIER = 1_024;

export interface Strays {
  /** Rows whose UPDATED_AT is missing or is not a time, and lines of files that are not rows. */
  readonly unreadable: number;
  readonly future: number;
  readonly examples: readonly StrayRow[];
}

export interface StrayRow {
  readonly why: "timeless" | "future" | "broken";
  /** Its identifiers; for a broken line, its place in the file. */
  readonly identity: Readonly<Record<string, string>>;
  /** As the source writes it. */
  readonly updatedAt: string | null;
}

/**
 * The sentence of a database without the values that it quotes: those are of rows, and runs are shown to people
 * without view_pii, mailed, and kept after a user was erased. Names of tables and columns, in errors of another class,
 * are quoted like them: `quotesNames` leaves them.
 */
export const withoutValues = (message: string, quotesNames = false): string =>
  quotesNames ? message : message.replace(/"(?:[^"]|"")*"?|'(?:[^']|'')*'?/gs, "…");

/** The source failed; it may work another time. */
export class SourceFailed extends Error {
  /** Whether the message is a client's own, which may name hosts and users of the connection. */
  readonly isForeign: boolean;

  constructor(cause: unknown, message?: string) {
    super(message ?? sentenceOf(cause), { cause });
    this.name = "SourceFailed";
    this.isForeign = message === undefined;
  }
}

/** The meaning of a code of a driver or the network. */
const MEANINGS: readonly (readonly [code: RegExp, meaning: string])[] = [
  [/^ECONNREFUSED$/, "nothing accepts connections"],
  [/^ENOTFOUND$/, "the host has no address"],
  [/^EAI_/, "the name server does not answer"],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, "no route leads to the host"],
  [/TIMEDOUT$|TIMEOUT$/, "no answer came in time"],
  [/^(?:ECONN|EPIPE|CONNECTION_|UND_ERR_SOCKET|PROTOCOL_CONNECTION)/, "the connection was closed"],
  [/CERT|SELF_SIGNED|ERR_TLS/, "its certificate is not valid for the host"],
  [/^(?:EACCES|EPERM)$/, "the server may not read it"],
  [/^(?:ENOENT|ENOTDIR)$/, "it is gone"],
  [/^(?:ENOSPC|EMFILE|ENFILE|ENOMEM)$/, "the server has no room left"],
];

/** The words of a driver are in the log; a run says what they mean, with the code to look up. */
function sentenceOf(cause: unknown): string {
  if (cause instanceof AnswerTooLarge) return cause.message;
  const { code, address, port } = cause as { code?: unknown; address?: string; port?: number };
  if (typeof code !== "string") return "the server's log says why.";
  const [, meaning = "it failed"] = MEANINGS.find(([pattern]) => pattern.test(code)) ?? [];
  const place = address && port ? ` at ${address}:${port}` : "";
  return `${meaning}${place} (${code}).`;
}
