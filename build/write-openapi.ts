import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";
import { RAPPORT_VERSION } from "../src/core/base/version.ts";
import { ENDPOINTS, REFERENCE } from "../src/server/assembled.ts";
import { openApiDocument } from "../src/server/reference/openapi.ts";

/* Writes openapi.json, the committed document: `npm run openapi`. */

const document = openApiDocument(
  ENDPOINTS.map(({ contract }) => contract),
  REFERENCE,
  RAPPORT_VERSION,
);
writeFileSync(join(packageRoot(), "openapi.json"), `${JSON.stringify(document, null, 2)}\n`);
