import { firstTables, SourceFailed, TABLES_LIMIT, type TableList } from "./source.ts";
import type { WarehouseClient } from "./warehouse-client.ts";

/* The tables of a project of BigQuery: datasets.list, and tables.list of each. */

/** Each of them is a request. */
const MOST_DATASETS = 50;

/** @param path of the datasets of a project. */
export async function listDatasets(client: WarehouseClient, path: string): Promise<TableList> {
  const datasets = await idsIn(client, path, MOST_DATASETS + 1);
  const tables: string[] = [];
  for (const dataset of datasets.slice(0, MOST_DATASETS)) {
    if (tables.length >= TABLES_LIMIT) break;
    const ids = await idsIn(client, `${path}/${encodeURIComponent(dataset)}/tables`, TABLES_LIMIT);
    tables.push(...ids.map((table) => `${dataset}.${table}`));
  }
  return firstTables(tables, datasets.length > MOST_DATASETS);
}

interface Listed {
  readonly datasetReference?: { readonly datasetId?: unknown };
  readonly tableReference?: { readonly tableId?: unknown };
}

/** The first ids of a list of datasets, or of the tables of one. @throws SourceFailed */
async function idsIn(client: WarehouseClient, path: string, atMost: number): Promise<string[]> {
  const { body } = await client.json<{ datasets: Listed[]; tables: Listed[] }>({
    path: `${path}?maxResults=${atMost}`,
  });
  const listed = body.datasets ?? body.tables ?? [];
  if (!Array.isArray(listed)) throw new SourceFailed(undefined, "BigQuery lists no tables.");
  return listed
    .map((each) => each?.datasetReference?.datasetId ?? each?.tableReference?.tableId)
    .filter((id) => typeof id === "string")
    .slice(0, atMost)
    .sort();
}
