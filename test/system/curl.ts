import { spawnSync } from "node:child_process";

/** Why tests that follow the curl commands of a guide cannot run here, or false. */
export const skipWithoutCurl = spawnSync("curl", ["--version"]).error
  ? "curl is not installed"
  : false;
