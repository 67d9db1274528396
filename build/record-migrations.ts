import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";
import { migrationHashes } from "../src/core/database/migrations/migrate.ts";
import { extendRecord, parseRecord } from "../src/core/database/migrations/migration-record.ts";

/* `npm run migrations:record`: adds the hashes of new migrations to migrations/SHA256SUMS. */

const path = join(packageRoot(), "migrations", "SHA256SUMS");
const recorded = parseRecord(await readFile(path, "utf8").catch(() => ""));
await writeFile(path, extendRecord(recorded, await migrationHashes()));
