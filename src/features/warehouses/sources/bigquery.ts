import { randomUUID } from "node:crypto";
import Type, { type Static, type TObject } from "typebox";
import { Text } from "../../../core/base/values/schemas.ts";
import { ConnectionUnfit, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { listDatasets } from "./bigquery-tables.ts";
import { type Opening, SourceFailed, sourceKind } from "./source.ts";
import {
  countIn,
  type Dialect,
  type Result,
  sqlSource,
  type Values,
  type WarehouseColumn,
} from "./sql-table.ts";
import {
  baseOf,
  createClient,
  endpointSetting,
  hostAndPortOf,
  privateKeyOf,
  signToken,
  type WarehouseClient,
} from "./warehouse-client.ts";

/*
 * A table of BigQuery, over its REST interface (jobs.query, jobs.getQueryResults, tables.get, tables.list and
 * datasets.list) with a service account. Why not its client: docs/decisions/warehouse-clients.md
 */

const NAMES =
  /^(?:(?<project>[a-z][a-z0-9:.-]{4,98}[a-z0-9])\.)?(?<dataset>[A-Za-z0-9_]{1,1024})\.(?<name>[\p{L}\p{M}\p{N}\p{Pc}\p{Pd} ]{1,1024})$/u;

const connection = {
  project: Text("The project that is billed, such as acme-analytics.", "acme-analytics", {
    pattern: "^[a-z][a-z0-9:.-]{1,98}[a-z0-9]$",
  }),
  credentials: Type.Refine(
    Type.Union([Type.String({ maxLength: 16_384 }), Type.Record(Type.String(), Type.Unknown())], {
      description: "The key of the service account: the JSON that Google gives, as text or object.",
    }),
    (key) => accountIn(key) !== undefined,
    () => "must be the JSON of a service account's key, with client_email and private_key",
  ),
  endpoint: endpointSetting,
};

type Settings = Static<TObject<typeof connection>>;

const place = {
  table: Type.Refine(
    Type.String({
      maxLength: 2_200,
      description: "A table or view, such as crm.users, or project.crm.users of another project.",
    }),
    (table) => NAMES.test(withoutTicks(table)),
    () => "must be the name of a table with its dataset, such as crm.users",
  ),
};

const withoutTicks = (table: string): string => table.replaceAll("`", "");

const API = "bigquery.googleapis.com";

const TOKENS = "https://oauth2.googleapis.com/token";

interface Account {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id?: string;
  readonly token_uri: string;
}

/** Undefined if it is not the key of a service account. */
function accountIn(given: unknown): Account | undefined {
  try {
    const found = typeof given === "string" ? JSON.parse(given) : given;
    const { client_email, private_key, private_key_id, token_uri = TOKENS } = found;
    const isWhole = [client_email, private_key, token_uri].every(
      (each) => typeof each === "string",
    );
    if (!isWhole || !/^https?:\/\//.test(token_uri) || !URL.canParse(token_uri)) return undefined;
    return { client_email, private_key, private_key_id, token_uri };
  } catch {
    return undefined;
  }
}

export const bigquerySource = sourceKind({
  type: "bigquery",
  label: "Google BigQuery",
  connection,
  place,
  secrets: ["credentials"],
  placeOf: ({ table }) => table,
  hostsOf: ({ endpoint, credentials }) => [
    hostAndPortOf(baseOf(endpoint, API)),
    hostAndPortOf(accountIn(credentials)?.token_uri ?? TOKENS),
  ],

  async open(warehouse, opening) {
    const { project, table } = warehouse;
    const client = connect(warehouse, opening);
    const found = NAMES.exec(withoutTicks(table))?.groups ?? {};
    const { project: owner = project, dataset = "", name = "" } = found;
    const path = `${projectPath(owner)}/datasets/${dataset}/tables/${encodeURIComponent(name)}`;
    const { body: about } = await client.json<About>({ path });
    const fields = about.schema?.fields ?? [];
    if (!isDescribed(fields)) throw new SourceFailed(undefined, "BigQuery describes no table.");
    const columns = fields.map(columnOf);
    const filter = filterOf(about, columns);
    let bytes = 0;
    const run = (statement: string) =>
      runJob(client, project, statement, (scanned) => {
        bytes += scanned;
      });
    const named = `\`${owner}\`.\`${dataset}\`.\`${name}\``;
    return sqlSource(
      { dialect: DIALECT, table: named, columns, run, ...(filter && { filter }) },
      { close: async () => {}, bytesScanned: () => bytes },
    );
  },

  list: (warehouse, opening) =>
    listDatasets(connect(warehouse, opening), `${projectPath(warehouse.project)}/datasets`),
});

const projectPath = (project: string): string =>
  `/bigquery/v2/projects/${encodeURIComponent(project)}`;

/** A token that is exchanged for the signed claims of the account is good for an hour. */
const TOKEN_SECONDS = 3_600;

const SCOPE = "https://www.googleapis.com/auth/bigquery";

function connect({ credentials, endpoint }: Settings, opening: Opening): WarehouseClient {
  const account = accountIn(credentials) as Account;
  const key = privateKeyOf(account.private_key);
  return createClient({
    ...opening,
    label: "BigQuery",
    base: baseOf(endpoint, API),
    refusal: refusalOf,
    async authorize(client) {
      const now = Math.floor(Date.now() / 1_000);
      const { client_email: iss, private_key_id: kid, token_uri: aud } = account;
      const claims = { iss, scope: SCOPE, aud, iat: now, exp: now + TOKEN_SECONDS };
      const { body } = await client.json<{ access_token: string }>({
        method: "POST",
        url: aud,
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
          assertion: signToken(key, { kid }, claims),
        }).toString(),
      });
      if (typeof body.access_token === "string") {
        return { authorization: `Bearer ${body.access_token}` };
      }
      throw new ConnectionUnfit("Google gave no token for the service account.");
    },
  });
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly mode?: string;
  readonly precision?: string;
  readonly scale?: string;
}

const isDescribed = (fields: unknown): fields is readonly Field[] =>
  Array.isArray(fields) &&
  fields.every((each) => typeof each?.name === "string" && typeof each.type === "string");

const TIMES = { TIMESTAMP: "zoned", DATETIME: "local", DATE: "date" } as const;

function columnOf({ name, type, mode, precision, scale }: Field): WarehouseColumn {
  const isList = mode === "REPEATED";
  const time = isList ? undefined : TIMES[type as keyof typeof TIMES];
  const isWhole = /^INT(?:EGER|64)$/.test(type) || (/NUMERIC$/.test(type) && !!precision && !scale);
  return {
    name,
    isTime: time !== undefined,
    isText: !isList && (type === "STRING" || isWhole),
    isNested: isList || ["RECORD", "STRUCT", "JSON"].includes(type),
    ...(time && { time }),
  };
}

interface About {
  readonly schema?: { readonly fields?: readonly Field[] };
  readonly timePartitioning?: {
    readonly field?: string;
    readonly requirePartitionFilter?: boolean;
  };
  readonly rangePartitioning?: { readonly field?: string };
  readonly requirePartitionFilter?: boolean;
}

/**
 * A condition on the partitioning column, for a table that requires one. It is true of every row: a
 * sync reads updated rows in every partition. Rows that were just streamed in have no
 * _PARTITIONTIME yet.
 */
function filterOf(
  { timePartitioning, rangePartitioning, requirePartitionFilter }: About,
  columns: readonly WarehouseColumn[],
): string | undefined {
  if (!(requirePartitionFilter ?? timePartitioning?.requirePartitionFilter)) return undefined;
  const field = timePartitioning?.field ?? rangePartitioning?.field;
  // The range says it already.
  if (field?.toLowerCase() === "updated_at") return undefined;
  const column = field === undefined ? "_PARTITIONTIME" : DIALECT.quote(field);
  const time = columns.find(({ name }) => name === field)?.time ?? "zoned";
  const first = rangePartitioning
    ? `${column} is not null`
    : `${column} >= ${DIALECT.literal(time === "date" ? "0001-01-01" : "0001-01-01T00:00:00.000000Z", time)}`;
  return `(${column} is null or ${first})`;
}

const FORMAT = "'%Y-%m-%dT%H:%M:%E6SZ'";

const DIALECT: Dialect = {
  quote: (name) => `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``,
  literal: (time, kind) => {
    if (kind === "date") return `date '${time}'`;
    return kind === "zoned" ? `timestamp '${time}'` : `datetime '${time.slice(0, -1)}'`;
  },
  timeText: (column, kind) =>
    kind === "zoned"
      ? `format_timestamp(${FORMAT}, ${column}, 'UTC')`
      : `format_datetime(${FORMAT}, cast(${column} as datetime))`,
  readTime: (text) => text,
  text: (column, { isNested }) =>
    isNested ? `to_json_string(${column})` : `cast(${column} as string)`,
  bytes: (text) => `byte_length(${text})`,
};

/** How many rows a page may have; BigQuery ends it earlier, at about 10 MB. */
const MOST_ROWS = 10_000;

interface Page {
  readonly jobComplete?: boolean;
  readonly jobReference?: { readonly jobId: string; readonly location?: string };
  readonly totalRows?: string;
  readonly totalBytesProcessed?: string;
  readonly rows?: readonly { readonly f: readonly { readonly v: string | null }[] }[];
  readonly pageToken?: string;
}

/** A value that is not a row becomes undefined, which the reader refuses. */
const valuesIn = ({ rows }: Page): Values[] =>
  Array.isArray(rows) ? rows.map((row) => row?.f?.map?.((cell: { v?: unknown }) => cell?.v)) : [];

const MOST_EMPTY_PAGES = 10;

async function runJob(
  client: WarehouseClient,
  project: string,
  query: string,
  scanned: (bytes: number) => void,
): Promise<Result> {
  const queries = `${projectPath(project)}/queries`;
  const started = await client.json<Page>({
    method: "POST",
    path: queries,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      query,
      useLegacySql: false,
      maxResults: MOST_ROWS,
      timeoutMs: 20_000,
      requestId: randomUUID(),
    }),
  });
  const { jobId, location } = started.body.jobReference ?? {};
  if (typeof jobId !== "string") throw new SourceFailed(undefined, "BigQuery started no job.");
  const place: Record<string, string> = location === undefined ? {} : { location };
  const pageOf = (more: Record<string, string>) => {
    const query = new URLSearchParams({ maxResults: `${MOST_ROWS}`, ...place, ...more });
    return `${queries}/${encodeURIComponent(jobId)}?${query}`;
  };
  const job = `${projectPath(project)}/jobs/${encodeURIComponent(jobId)}`;
  const first = started.body.jobComplete
    ? started.body
    : await client.wait(
        async () => {
          const { body } = await client.json<Page>({ path: pageOf({ timeoutMs: "20000" }) });
          return body.jobComplete ? body : undefined;
        },
        { method: "POST", path: `${job}/cancel?${new URLSearchParams(place)}` },
      );
  const bytes = Number(first.totalBytesProcessed ?? 0);
  if (Number.isSafeInteger(bytes)) scanned(bytes);
  return {
    count: countIn(first.totalRows ?? 0),
    async *pages() {
      let page: Page = first;
      let empty = 0;
      for (;;) {
        const rows = valuesIn(page);
        if (rows.length > 0) yield rows;
        empty = rows.length > 0 ? 0 : empty + 1;
        const { pageToken } = page;
        if (pageToken === undefined) return;
        if (empty > MOST_EMPTY_PAGES) {
          throw new SourceFailed(undefined, "BigQuery sends pages without rows.");
        }
        page = (await client.json<Page>({ path: pageOf({ pageToken }) })).body;
        if (page.pageToken === pageToken) {
          throw new SourceFailed(undefined, "BigQuery repeats the same page.");
        }
      }
    },
  };
}

/** Reasons that pass in seconds. */
const BUSY =
  /^(?:rateLimitExceeded|jobRateLimitExceeded|backendError|internalError|jobBackendError)$/;

const QUOTA = /^(?:quotaExceeded|billingNotEnabled|billingTierLimitExceeded)$/;

function refusalOf(status: number, body: string): Error | "busy" {
  const { reason, message } = reasonIn(body);
  if (BUSY.test(reason)) return "busy";
  const cause = new Error(`${status} ${reason}: ${message}`.slice(0, 1_000));
  if (status === 401 || /^(?:invalid_grant|invalid_client|unauthorized_client)$/.test(reason)) {
    const text = "Google refuses the service account. Check its key, and that it is not disabled.";
    return new ConnectionUnfit(text, cause);
  }
  if (QUOTA.test(reason)) {
    return new SourceFailed(
      cause,
      `BigQuery's quota is used up, or billing is disabled (${reason}).`,
    );
  }
  if (status === 404) {
    return new SourceUnfit(
      "BigQuery has no such table, or the service account may not see it.",
      cause,
    );
  }
  if (status === 403) {
    const text =
      "BigQuery refuses: the service account needs bigquery.jobs.create in the project, and bigquery.tables.get and " +
      "bigquery.tables.getData on the table.";
    return new SourceUnfit(text, cause);
  }
  if (reason === "invalidQuery") {
    return new SourceUnfit(
      `The warehouse refuses: ${message.split("\n")[0]?.slice(0, 500)}`,
      cause,
    );
  }
  return new SourceFailed(
    cause,
    `BigQuery refused the request (status ${status}, ${reason || "no reason"}).`,
  );
}

/** Addresses of the API, and of the service that issues tokens. */
function reasonIn(body: string): { readonly reason: string; readonly message: string } {
  try {
    const { error, error_description } = JSON.parse(body);
    if (typeof error === "string") return { reason: error, message: `${error_description}` };
    const [first] = error.errors ?? [];
    return { reason: `${first?.reason ?? error.status}`, message: `${error.message}` };
  } catch {
    return { reason: "", message: "" };
  }
}
