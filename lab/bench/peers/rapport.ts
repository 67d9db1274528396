import { seedStatements } from "../engines/seed.ts";
import { startServer } from "../processes/server.ts";
import { attributesObject, eventObject, track } from "../workloads/track.ts";
import type { Contender } from "./contender.ts";
import { countChanged } from "./seed.ts";

/** As `npm run bench -- track` measures it. */
export const rapport: Contender = {
  title: "Rapport",
  dialect: {
    faults: track.faults,
    requestOf: ({ attributes, events }) => ({
      method: "POST",
      path: track.path,
      body: Buffer.from(
        JSON.stringify({
          ...(attributes.length > 0 && {
            attributes: attributes.map((each) => attributesObject(each.user, each.attributes)),
          }),
          ...(events.length > 0 && {
            events: events.map((each) => eventObject(each.user, each.event)),
          }),
        }),
      ),
    }),
  },
  async prepare(dataset, { users, folder }) {
    await (await startServer(dataset.environment, { folder, workers: 1 })).stop();
    await dataset.run(seedStatements({ users, statistics: true, addresses: false }));
  },
  async start(dataset, { folder, processes, atEnd }) {
    const server = await startServer(dataset.environment, { folder, workers: processes });
    atEnd(() => server.stop());
    return server;
  },
  countEvents: "select count(*) as rows from events",
  countChangedUsers: countChanged("profiles", (name) =>
    name === "home_city" ? `standard_attributes->>'${name}'` : `custom_attributes->>'${name}'`,
  ),
};
