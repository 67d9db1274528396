import type { Feature } from "../../core/feature.ts";

/** It is a command alone: the server has nothing of it. */
export const feature = { name: "demo" } satisfies Feature;
