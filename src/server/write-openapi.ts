import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../database/migrate.ts";
import { openApiDocument } from "../reference/openapi.ts";
import { RAPPORT_VERSION } from "../reference/version.ts";
import { ENDPOINTS } from "./app.ts";

/* Writes openapi.json, the committed document: `npm run openapi`. */

const document = openApiDocument(
  ENDPOINTS.map(({ contract }) => contract),
  RAPPORT_VERSION,
);
writeFileSync(join(packageRoot(), "openapi.json"), `${JSON.stringify(document, null, 2)}\n`);
