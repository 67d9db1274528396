import Type, { type Static, type TObject } from "typebox";
import { patterned, Text } from "../../../core/base/values/schemas.ts";
import { ConnectionUnfit, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { TableName, tablesOf } from "./list-tables.ts";
import { type Opening, SourceFailed, sourceKind, TABLES_LIMIT } from "./source.ts";
import {
  countIn,
  type Dialect,
  type Result,
  sqlSource,
  type WarehouseColumn,
} from "./sql-table.ts";
import {
  baseOf,
  createClient,
  endpointSetting,
  hostAndPortOf,
  partsOf,
  type WarehouseClient,
  type WarehouseRequest,
} from "./warehouse-client.ts";

/*
 * A table of Databricks, over its SQL Statement Execution API: the result is in chunks behind links to a storage. A
 * link works for some minutes. Why not its client: docs/decisions/warehouse-clients.md
 */

const NAME = "(?:[A-Za-z0-9_]+|`(?:[^`\\u0000]|``)+`)";

const TABLE = new RegExp(`^${NAME}(?:\\.${NAME}){0,2}$`);

const connection = {
  host: Type.String({
    ...patterned(
      "^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$",
      "must be a host, without https:// and a path",
    ),
    description: "The host of the workspace, such as dbc-a1b2c3d4-e5f6.cloud.databricks.com.",
    examples: ["dbc-a1b2c3d4-e5f6.cloud.databricks.com"],
  }),
  path: Type.String({
    ...patterned(
      "^/?sql/1\\.0/(?:warehouses|endpoints)/[A-Za-z0-9]{1,64}$",
      "must be the HTTP path of a SQL warehouse, such as /sql/1.0/warehouses/a1b2c3d4e5f6",
    ),
    description: "The HTTP path of the SQL warehouse: /sql/1.0/warehouses/a1b2c3d4e5f6.",
    examples: ["/sql/1.0/warehouses/a1b2c3d4e5f6"],
  }),
  token: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4_096, description: "A personal access token." }),
  ),
  client_id: Type.Optional(
    Text(
      "The id of a service principal, instead of a token.",
      "8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b",
      { minLength: 1, maxLength: 255 },
    ),
  ),
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: "The OAuth secret that belongs to client_id.",
    }),
  ),
  endpoint: endpointSetting,
};

type Settings = Static<TObject<typeof connection>>;

const place = { table: TableName(TABLE, 800, "main.crm.users", "with backticks if it needs them") };

const addressOf = ({ endpoint, host = "" }: Settings): string => baseOf(endpoint, host);

export const databricksSource = sourceKind({
  type: "databricks",
  label: "Databricks",
  connection,
  place,
  secrets: ["token", "client_secret"],
  free: ["token", "client_secret"],
  login: {
    holds: ({ token, client_id, client_secret }) =>
      token !== undefined || (client_id !== undefined && client_secret !== undefined),
    sentence: "needs a 'token', or a 'client_id' with its 'client_secret'",
  },
  placeOf: ({ table }) => table,
  hostsOf: (warehouse) => [hostAndPortOf(addressOf(warehouse))],

  async open(warehouse, opening) {
    const { table } = warehouse;
    const run = runnerOf(warehouse, opening);
    const { columns } = await run(`select * from ${table} limit 0`);
    return sqlSource({ dialect: DIALECT, table, columns, run }, { close: async () => {} });
  },

  async list(warehouse, opening) {
    const found = await runnerOf(warehouse, opening)(TABLES);
    return tablesOf(found, { ...DIALECT, plain: /^[A-Za-z_]\w*$/ });
  },
});

/** What the login may see in Unity Catalog. */
const TABLES = `select table_catalog, table_schema, table_name from system.information_schema.tables
  where table_schema <> 'information_schema' and table_catalog not in ('system', 'samples')
  order by table_catalog, table_schema, table_name limit ${TABLES_LIMIT}`;

function runnerOf(settings: Settings, opening: Opening) {
  const client = connect(settings, opening);
  const computer = settings.path.slice(settings.path.lastIndexOf("/") + 1);
  return (statement: string) => runStatement(client, computer, statement);
}

const STATEMENTS = "/api/2.0/sql/statements";

function connect(settings: Settings, opening: Opening): WarehouseClient {
  const { token, client_id, client_secret } = settings;
  const base = addressOf(settings);
  return createClient({
    ...opening,
    label: "Databricks",
    base,
    refusal: refusalOf,
    async authorize(client) {
      if (token !== undefined) return { authorization: `Bearer ${token}` };
      const login = Buffer.from(`${client_id}:${client_secret}`).toString("base64");
      const { body } = await client.json<{ access_token: string }>({
        method: "POST",
        url: `${base}/oidc/v1/token`,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          authorization: `Basic ${login}`,
        },
        body: "grant_type=client_credentials&scope=all-apis",
      });
      if (typeof body.access_token === "string") {
        return { authorization: `Bearer ${body.access_token}` };
      }
      throw new ConnectionUnfit("Databricks gave no token for the service principal.");
    },
  });
}

const TIMES = {
  TIMESTAMP: "zoned",
  TIMESTAMP_LTZ: "zoned",
  TIMESTAMP_NTZ: "local",
  DATE: "date",
} as const;

const WHOLE = /^(?:TINYINT|SMALLINT|INT|BIGINT|BYTE|SHORT|LONG|DECIMAL\(\d+, ?0\))$/;

interface DatabricksColumn {
  readonly name: string;
  readonly type_text: string;
}

function columnOf({ name, type_text }: DatabricksColumn): WarehouseColumn {
  const type = type_text.toUpperCase();
  const time = TIMES[type as keyof typeof TIMES];
  return {
    name,
    isTime: time !== undefined,
    isText: /^(?:STRING|(?:VAR)?CHAR\b)/.test(type) || WHOLE.test(type),
    isNested: /^(?:STRUCT|MAP|ARRAY|VARIANT)\b/.test(type),
    ...(time && { time }),
  };
}

const DIALECT: Dialect = {
  quote: (name) => `\`${name.replaceAll("`", "``")}\``,
  literal: (time, kind) => {
    if (kind === "date") return `date '${time}'`;
    return kind === "zoned" ? `timestamp '${time}'` : `timestamp_ntz '${time.slice(0, -1)}'`;
  },
  // Text of an instant would depend on the zone of the session.
  timeText: (column, kind) =>
    kind === "zoned" ? `unix_micros(${column})` : `cast(${column} as string)`,
  readTime,
  text: (column, { isNested }) =>
    // Otherwise null members would be left out, as if they were missing.
    isNested ? `to_json(${column}, map('ignoreNullFields', 'false'))` : `cast(${column} as string)`,
  bytes: (text) => `octet_length(${text})`,
};

/** From microseconds since 1970, or from a time or day without a zone. */
function readTime(text: string): string {
  if (/^-?\d{1,18}$/.test(text)) {
    const micros = BigInt(text);
    const inSecond = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
    const seconds = Number((micros - inSecond) / 1_000_000n);
    return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${`${inSecond}`.padStart(6, "0")}Z`;
  }
  const [, day = "", time = "00:00:00", fraction = ""] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?)?$/.exec(text) ?? [];
  return `${day}T${time}.${fraction.padEnd(6, "0")}Z`;
}

interface Statement {
  readonly statement_id: string;
  readonly status: {
    readonly state: string;
    readonly error?: { readonly error_code?: string; readonly message?: string };
  };
  readonly manifest: {
    readonly schema: { readonly columns: readonly DatabricksColumn[] };
    readonly total_row_count?: number;
    /** Whether the result was larger than Databricks gives. */
    readonly truncated?: boolean;
    readonly chunks?: readonly { readonly row_count: number }[];
  };
}

interface Links {
  readonly external_links: readonly Link[];
}

interface Link {
  readonly external_link?: string;
  readonly http_headers?: Readonly<Record<string, string>>;
}

const noResult = () => new SourceFailed(undefined, "Databricks sent no result.");

async function runStatement(
  client: WarehouseClient,
  warehouse_id: string,
  statement: string,
): Promise<Result & { readonly columns: readonly WarehouseColumn[] }> {
  const started = await client.json<Statement>({
    method: "POST",
    path: `${STATEMENTS}/`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      warehouse_id,
      statement,
      wait_timeout: "20s",
      on_wait_timeout: "CONTINUE",
      disposition: "EXTERNAL_LINKS",
      format: "JSON_ARRAY",
    }),
  });
  const id = started.body.statement_id;
  if (typeof id !== "string" || !/^[\w-]{1,100}$/.test(id)) throw noResult();
  const path = `${STATEMENTS}/${id}`;
  const done =
    endedOf(started.body) ??
    (await client.wait(async () => endedOf((await client.json<Statement>({ path })).body), {
      method: "POST",
      path: `${path}/cancel`,
    }));
  const { manifest } = done;
  if (!manifest || !isDescribed(manifest.schema?.columns)) throw noResult();
  if (manifest.truncated) {
    throw new SourceFailed(undefined, "the result is larger than Databricks gives at once.");
  }
  const count = countIn(manifest.total_row_count ?? 0);
  const chunks = partsOf(
    (manifest.chunks ?? []).map((chunk) => chunk?.row_count),
    count,
  );
  return {
    columns: manifest.schema.columns.map(columnOf),
    count,
    async *pages() {
      for (const [index, rows] of chunks.entries()) {
        if (rows === 0) continue;
        const requestOf = () => linkTo(client, `${path}/result/chunks/${index}`);
        yield* client.rows(requestOf, undefined, rows);
      }
    },
  };
}

/** A fresh link: one of them works for a quarter of an hour at most. */
async function linkTo(client: WarehouseClient, path: string): Promise<WarehouseRequest> {
  const { body } = await client.json<Links>({ path });
  const { external_link: url, http_headers } = body.external_links?.[0] ?? {};
  if (typeof url !== "string" || !URL.canParse(url)) throw noResult();
  // Headers such as a storage's decryption key; the warehouse may not set the headers of the
  // connection.
  const headers = Object.entries(http_headers ?? {}).filter(
    ([name, value]) => /^x-[\w-]+$/i.test(name) && typeof value === "string",
  );
  return { url, headers: Object.fromEntries(headers), isLink: true };
}

const isDescribed = (columns: unknown): columns is readonly DatabricksColumn[] =>
  Array.isArray(columns) &&
  columns.every((each) => typeof each?.name === "string" && typeof each.type_text === "string");

/** Undefined as long as it runs. @throws what its failure means. */
function endedOf(body: Partial<Statement>): Partial<Statement> | undefined {
  const { state, error } = body.status ?? {};
  if (state === "PENDING" || state === "RUNNING") return undefined;
  if (state === "SUCCEEDED") return body;
  throw failureOf(String(error?.error_code ?? state), String(error?.message ?? ""));
}

/** Conditions of Databricks that a statement is to blame for: names, rights, types. */
const UNFIT =
  /\[(?:TABLE_OR_VIEW_NOT_FOUND|UNRESOLVED_COLUMN|SCHEMA_NOT_FOUND|INSUFFICIENT_PERMISSIONS|PARSE_SYNTAX_ERROR|DATATYPE_MISMATCH|DATA_SOURCE_NOT_FOUND)\b/;

const QUOTA = /^(?:RESOURCE_EXHAUSTED|QUOTA_EXCEEDED|REQUEST_LIMIT_EXCEEDED)$/;

function failureOf(code: string, message: string): Error {
  const cause = new Error(`${code}: ${message}`.slice(0, 1_000));
  if (UNFIT.test(message)) {
    const line = message.split("\n")[0]?.slice(0, 500);
    return new SourceUnfit(`The warehouse refuses: ${line}`, cause);
  }
  if (QUOTA.test(code)) return new SourceFailed(cause, `Databricks' quota is used up (${code}).`);
  return new SourceFailed(cause, `Databricks did not run the statement (${code}).`);
}

function refusalOf(status: number, body: string): Error {
  const { error_code, message } = parsed(body);
  const cause = new Error(`${status} ${error_code}: ${message}`.slice(0, 1_000));
  if (status === 401 || status === 403) {
    const text = `Databricks refuses the login (status ${status}). Check the token, and that it may use the SQL warehouse.`;
    return new ConnectionUnfit(text, cause);
  }
  if (status === 404) return new ConnectionUnfit("Databricks has no such SQL warehouse.", cause);
  if (error_code !== undefined && status === 400) return failureOf(error_code, `${message}`);
  return new SourceFailed(cause, `Databricks refused the request (status ${status}).`);
}

function parsed(body: string): { error_code?: string; message?: string } {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {};
  }
}
