import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";
import { RAPPORT_VERSION } from "../src/core/base/version.ts";
import { DOCUMENTED, REFERENCE } from "../src/server/assembled.ts";
import { openApiDocuments, textOfDocument } from "../src/server/reference/documents.ts";

/* Writes openapi.json and openapi-admin.json, the committed documents: `npm run openapi`. */

const contracts = DOCUMENTED.map(({ contract }) => contract);
for (const [file, document] of Object.entries(
  openApiDocuments(contracts, REFERENCE, RAPPORT_VERSION),
)) {
  writeFileSync(join(packageRoot(), file), textOfDocument(document));
}
