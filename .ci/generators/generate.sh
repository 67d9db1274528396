#!/usr/bin/env bash
# Lints both OpenAPI documents, lets five generators of others write TypeScript from each, and compiles it.
# Run in a copy of this folder that has the documents in it, after `npm install`: .ci/steps.sh.
set -euo pipefail

for document in openapi openapi-admin; do
  npx redocly lint "$document.json" --format summary
  out=written/$document
  mkdir -p "$out"
  npx openapi-typescript "$document.json" -o "$out/openapi-typescript.ts"
  npx openapi-ts -i "$document.json" -o "$out/hey-api" --silent
  DOCUMENT=$document.json OUT=$out npx orval --config orval.config.mjs
  npx oazapfts "$document.json" "$out/oazapfts.ts"
  npx openapi-zod-client "$document.json" -o "$out/zod.ts"
done
npx tsc -p .
echo "Five generators wrote $(find written -name '*.ts' | wc -l) files from both documents, and all compile."
