import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { APPLICATION, MASTER_KEY, MOUNT } from "../parse-server.ts";
import type { Host } from "./host.ts";

export const serveParse: Host = async (load, database) => {
  process.env.PARSE_SERVER_LOGS_FOLDER = "null"; // Else it makes one in the current folder.
  const { ParseServer } = load("parse-server");
  const express = load("express");
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const databaseUrl = new URL(database.url);
  databaseUrl.searchParams.set("max", String(database.connections));
  const parse = new ParseServer({
    databaseURI: databaseUrl.href,
    appId: APPLICATION,
    masterKey: MASTER_KEY,
    serverURL: `${url}${MOUNT}`,
    directAccess: true,
    allowClientClassCreation: false,
    silent: true,
    logLevel: "error",
  });
  await parse.start();
  app.use(MOUNT, parse.app);
  return url;
};
