import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Host } from "./host.ts";

export const servePostGraphile: Host = async (load, database) => {
  process.env.GRAPHILE_TURBO = "1";
  const { postgraphile } = load("postgraphile");
  const pool = { connectionString: database.url, max: database.connections };
  const handler = postgraphile(pool, "public", {
    disableQueryLog: true,
    dynamicJson: true,
    graphiql: false,
  });
  await handler.getGraphQLSchema();
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
