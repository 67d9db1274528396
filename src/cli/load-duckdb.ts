import { installationOf } from "../core/base/version.ts";

/**
 * DuckDB, which reads and writes Parquet. The package is optional, because its binary is large.
 *
 * @throws in words if it is not installed.
 */
export const loadDuckDb = (): Promise<typeof import("@duckdb/node-api")> =>
  import("@duckdb/node-api").catch(() => {
    throw new Error(
      `Parquet needs DuckDB, which is not installed here: ${installationOf("@duckdb/node-api")}. CSV and NDJSON need nothing.`,
    );
  });
