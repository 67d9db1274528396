import { sized } from "../../sizes.ts";
import { startBigQuery } from "./bigquery.ts";
import { startDatabricks } from "./databricks.ts";
import type { FakeEngine } from "./engine.ts";
import type { FakeServer } from "./http.ts";
import { startMysql } from "./mysql.ts";
import { startSnowflake } from "./snowflake.ts";

/** An imitated warehouse of some kind. */
export interface FakeWarehouse extends FakeServer {
  readonly engine: FakeEngine;
  readonly settings: Readonly<Record<string, string>>;
  looks: number;
  pageRows: number;
}

/** The kinds that are read by statements. */
export const FAKES: readonly {
  readonly type: string;
  /** How the names of its tables begin. */
  readonly schema: string;
  /** Over HTTP: its pages can be requested again. */
  readonly isHttp: boolean;
  /** The types of the engine that it does not have. */
  readonly lacks: RegExp;
  /** Requests for further pages, for a statement, and to cancel one. */
  readonly page: RegExp;
  readonly statement: RegExp;
  readonly cancel: RegExp;
  /** How many statements a run is. */
  readonly statements: number;
  start(): Promise<FakeWarehouse>;
}[] = [
  {
    type: "snowflake",
    schema: "",
    isHttp: true,
    lacks: /^$/,
    page: /partition=[1-9]/,
    statement: /POST .*statements/,
    cancel: /^POST .*\/cancel/,
    statements: 3,
    start: startSnowflake,
  },
  {
    type: "bigquery",
    schema: "crm.",
    isHttp: true,
    lacks: /^map/,
    page: /pageToken/,
    statement: /POST .*queries$/,
    cancel: /^POST .*\/cancel/,
    statements: 3,
    start: startBigQuery,
  },
  {
    type: "databricks",
    schema: "crm.",
    isHttp: true,
    lacks: /^$/,
    page: /storage/,
    statement: /POST .*statements/,
    cancel: /^POST .*\/cancel/,
    statements: 3,
    start: startDatabricks,
  },
  {
    type: "mysql",
    schema: "crm.",
    isHttp: false,
    lacks: /^(?:struct|map)|\[\]$/,
    page: /order by/,
    statement: /^select/,
    cancel: /^kill query \d+$/,
    // It counts the rows first.
    statements: 4,
    start: startMysql,
  },
];

/**
 * The kinds of which most is tested: for each change one that is read over HTTP and one with a protocol of its own, in the night all.
 * A mistake in what they share shows in either.
 */
export const TRIED = sized(
  FAKES.filter(({ isHttp }, place) => FAKES.findIndex((each) => each.isHttp === isHttp) === place),
  FAKES,
);
