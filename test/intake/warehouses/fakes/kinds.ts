import { startBigQuery } from "./bigquery.ts";
import { startDatabricks } from "./databricks.ts";
import type { FakeEngine } from "./engine.ts";
import type { FakeServer } from "./http.ts";
import { startSnowflake } from "./snowflake.ts";

/** An imitated warehouse of some kind. */
export interface FakeWarehouse extends FakeServer {
  readonly engine: FakeEngine;
  readonly settings: Readonly<Record<string, string>>;
  looks: number;
  pageRows: number;
}

/** The kinds that are read over HTTP, with how their tables are named, and the requests for further pages. */
export const FAKES: readonly {
  readonly type: string;
  readonly schema: string;
  readonly page: RegExp;
  readonly statement: RegExp;
  start(): Promise<FakeWarehouse>;
}[] = [
  {
    type: "snowflake",
    schema: "",
    page: /partition=[1-9]/,
    statement: /POST .*statements/,
    start: startSnowflake,
  },
  {
    type: "bigquery",
    schema: "crm.",
    page: /pageToken/,
    statement: /POST .*queries$/,
    start: startBigQuery,
  },
  {
    type: "databricks",
    schema: "crm.",
    page: /storage/,
    statement: /POST .*statements/,
    start: startDatabricks,
  },
];
