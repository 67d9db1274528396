import type { Feature } from "../../core/feature.ts";
import { backupEndpoints } from "./endpoints.ts";

export const feature = { name: "backup", endpoints: backupEndpoints } satisfies Feature;
