/*
 * Enough of Databricks' SQL Statement Execution API to read tables: statements, their state, their chunks behind links
 * to a storage, and the tokens of a service principal. From the public reference of the API ("Statement Execution",
 * EXTERNAL_LINKS and JSON_ARRAY) and of OAuth for service principals; the names of errors from its error conditions.
 */
import { type FakeEngine, openFakeEngine, paged, type Table, withQuotes } from "./engine.ts";
import { type Asked, type FakeServer, type Reply, serveFake } from "./http.ts";

export interface FakeDatabricks extends FakeServer {
  readonly engine: FakeEngine;
  readonly settings: Readonly<Record<string, string>>;
  /** The same with the OAuth client of a service principal. */
  readonly principal: Readonly<Record<string, string>>;
  looks: number;
  pageRows: number;
  expireTokens(): void;
}

const MACROS = [
  "create schema crm",
  "create type timestamp_ntz as timestamp",
  "create macro unix_micros(t) as epoch_us(t)",
  "create macro octet_length(t) as strlen(t)",
];

const TOKEN = "dapi-0123456789";
const API = "/api/2.0/sql/statements/";

export async function startDatabricks(): Promise<FakeDatabricks> {
  const engine = await openFakeEngine(MACROS, (statement) =>
    withQuotes(statement).replaceAll(", map('ignoreNullFields', 'false'))", ")"),
  );
  const results = new Map<string, { table: Table; looks: number }>();
  let issued = 0;
  let principalToken = "";

  async function answer(asked: Asked): Promise<Reply> {
    const { pathname } = new URL(asked.path, "http://databricks");
    if (pathname === "/oidc/v1/token") return giveToken(asked);
    const [, stored, chunk] = /^\/storage\/([\w-]+)\/(\d+)$/.exec(pathname) ?? [];
    if (stored) return chunkOf(stored, Number(chunk), asked);
    const { authorization } = asked.headers;
    if (
      ![`Bearer ${TOKEN}`, principalToken && `Bearer ${principalToken}`].includes(
        authorization ?? "",
      )
    ) {
      return refuse(
        401,
        "UNAUTHENTICATED",
        "Credential was not sent or was of an unsupported type.",
      );
    }
    if (asked.method === "POST" && pathname === API) return start(JSON.parse(asked.body));
    const [id = "", ...rest] = pathname.slice(API.length).split("/");
    if (!results.has(id)) return refuse(404, "NOT_FOUND", `The statement ${id} was not found.`);
    if (rest[0] === "cancel") return { body: {} };
    return rest[0] === "result" ? { body: linksTo(id, Number(rest[2])) } : { body: stateOf(id) };
  }

  function giveToken({ headers, body }: Asked): Reply {
    const login = Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString("base64");
    if (headers.authorization !== `Basic ${login}` || !body.includes("scope=all-apis")) {
      return { status: 401, body: { error: "invalid_client" } };
    }
    principalToken = `eyJ.${++issued}`;
    return { body: { access_token: principalToken, token_type: "Bearer", expires_in: 3_600 } };
  }

  async function start(sent: { statement: string; warehouse_id: string }): Promise<Reply> {
    if (sent.warehouse_id !== "a1b2c3") {
      return refuse(404, "NOT_FOUND", "SQL warehouse not found.");
    }
    const statement_id = `01ef-${results.size}`;
    try {
      results.set(statement_id, { table: await engine.query(sent.statement), looks: fake.looks });
      return { body: stateOf(statement_id) };
    } catch (error) {
      const { message } = error as Error;
      const condition = /Table.*does not exist/s.test(message)
        ? "TABLE_OR_VIEW_NOT_FOUND"
        : "UNRESOLVED_COLUMN.WITH_SUGGESTION";
      const text = `[${condition}] ${message.split("\n")[0]} SQLSTATE: 42P01`;
      const status = { state: "FAILED", error: { error_code: "BAD_REQUEST", message: text } };
      return { body: { statement_id, status } };
    }
  }

  function stateOf(statement_id: string) {
    const result = results.get(statement_id) as { table: Table; looks: number };
    if (result.looks-- > 0) return { statement_id, status: { state: "PENDING" } };
    const { table } = result;
    const chunks = paged(table.rows, fake.pageRows).map(({ length }, chunk_index) => ({
      chunk_index,
      row_offset: chunk_index * fake.pageRows,
      row_count: length,
    }));
    return {
      statement_id,
      status: { state: "SUCCEEDED" },
      manifest: {
        format: "JSON_ARRAY",
        schema: { column_count: table.columns.length, columns: table.columns.map(columnOf) },
        total_chunk_count: chunks.length,
        total_row_count: table.rows.length,
        chunks,
      },
      result: chunks.length > 0 ? linksTo(statement_id, 0) : {},
    };
  }

  const linksTo = (id: string, chunk_index: number) => ({
    external_links: [
      {
        chunk_index,
        external_link: `${server.url}/storage/${id}/${chunk_index}?X-Amz-Signature=0`,
        expiration: new Date(Date.now() + 900_000).toISOString(),
        http_headers: { "x-decrypt": "yes" },
      },
    ],
  });

  function chunkOf(id: string, chunk: number, { headers }: Asked): Reply {
    // A storage refuses a second way of proving who asks.
    if (headers.authorization || headers["x-decrypt"] !== "yes") return { status: 400 };
    return { body: paged(results.get(id)?.table.rows ?? [], fake.pageRows)[chunk] ?? [] };
  }

  const server = await serveFake(answer);
  const common = {
    type: "databricks",
    host: "dbc-1.cloud.databricks.com",
    path: "/sql/1.0/warehouses/a1b2c3",
    endpoint: server.url,
  };
  const fake: FakeDatabricks = {
    ...server,
    engine,
    settings: { ...common, token: TOKEN },
    principal: { ...common, ...CLIENT },
    looks: 1,
    pageRows: 100,
    expireTokens: () => {
      principalToken = "";
    },
  };
  return fake;
}

const CLIENT = { client_id: "c0ffee", client_secret: "dose-secret" };

const refuse = (status: number, error_code: string, message: string): Reply => ({
  status,
  body: { error_code, message },
});

function columnOf({ name, type }: Table["columns"][number], position: number) {
  const found = TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? type;
  return { name, position, type_text: found };
}

const TYPES: readonly [RegExp, string][] = [
  [/^TIMESTAMP WITH TIME ZONE$/, "TIMESTAMP"],
  [/^TIMESTAMP/, "TIMESTAMP_NTZ"],
  [/\[\]$/, "ARRAY<STRING>"],
  [/^STRUCT/, "STRUCT<plan: STRING>"],
  [/^MAP/, "MAP<STRING, STRING>"],
  [/^JSON$/, "VARIANT"],
  [/^VARCHAR$/, "STRING"],
  [/^INTEGER$/, "INT"],
  [/^BLOB$/, "BINARY"],
];
