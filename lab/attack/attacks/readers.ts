import { ATTACKED, ATTACKER_KEY } from "../attacked-server.ts";
import { holdSockets, requestOf } from "../sockets.ts";
import { type Attack, mustHold, scaled, type Target, times } from "../target.ts";
import { fillLarge, mergesOf, PAIRS } from "./people.ts";

/*
 * Attacks of clients that ask for much and read nothing of it. On the embedded engine an export has the only connection until
 * its snapshot is on disk, so that others wait for it; none is refused.
 */

const CLIENTS = 16;

/** Of these, an export has almost the 4 MiB that it may have. */
const EXPORTED = times(4, (index) => `pair-${index}`);

/** A filter that all large users meet. */
const LARGE = { attribute: "external_id", starts_with: "pair" };

/** Conditions that the engine may leave open to the program, on values of 100 KB. */
const OPEN = {
  any: times(50, (index) => ({
    custom_attribute: `a0_${index % 9}`,
    after: `20${String(index).padStart(2, "0")}-01-01T00:00:00Z`,
  })),
};

const inWorkspace = (path: string) => `/admin/v1/workspaces/${ATTACKED}/${path}`;

const get = (path: string, token: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;

const stream = ({ server }: Target): string => get(inWorkspace("export/users"), server.adminToken);

/** One request for each kind of large response. */
export const largeRequests = (target: Target): string[] => [
  requestOf("/users/export/ids", { external_ids: EXPORTED }, ATTACKER_KEY),
  requestOf(
    "/users/merge",
    { merge_updates: mergesOf(scaled(target, 4)), dry_run: true },
    ATTACKER_KEY,
  ),
  requestOf(inWorkspace("segments/users"), { filter: LARGE }, target.server.adminToken),
  stream(target),
];

const SEGMENT = "55555555-0000-4000-8000-000000000001";

async function segmentOfLarge(target: Target): Promise<void> {
  await fillLarge(target);
  const body = { name: "Large", filter: LARGE };
  const { status, text } = await target.admin("PUT", inWorkspace(`segments/${SEGMENT}`), body);
  mustHold(status === 200, text);
}

async function downloadSegment(target: Target): Promise<string> {
  const asked = { segment_id: SEGMENT, fields_to_export: ["external_id", "custom_attributes"] };
  const { status, text } = await target.send("POST", "/users/export/segment", asked);
  mustHold(status === 201, text);
  const { url } = JSON.parse(text) as { url: string };
  const response = await target.send("GET", new URL(url).pathname);
  mustHold(response.status === 200, response.text.slice(0, 200));
  return `${(response.text.length / 1_048_576).toFixed(1)} MB`;
}

/** Reads something whole. */
async function readAll(target: Target, method: string, path: string, body?: object) {
  const { status, text } = await target.admin(method, inWorkspace(path), body);
  mustHold(status === 200, text.slice(0, 200));
  return `${(text.length / 1_048_576).toFixed(1)} MB`;
}

const users = `${2 * PAIRS} large users`;

export const READER_ATTACKS: readonly Attack[] = [
  {
    name: `a page of a segment of ${users}`,
    before: "not tried",
    bounds: { grownMb: 200 },
    prepare: fillLarge,
    run: (target) => readAll(target, "POST", "segments/users", { filter: LARGE, limit: 1_000 }),
  },
  {
    name: `an archive of a segment of ${users}`,
    before: "not tried",
    bounds: { grownMb: 200 },
    prepare: segmentOfLarge,
    run: downloadSegment,
  },
  {
    name: `an export of ${users}`,
    before: "not tried",
    bounds: { grownMb: 400 },
    prepare: fillLarge,
    run: (target) => readAll(target, "GET", "export/users"),
  },
  {
    name: `a page of a segment with 50 conditions on the attributes of ${users}`,
    before: "not tried",
    bounds: { grownMb: 200 },
    prepare: fillLarge,
    run: (target) => readAll(target, "POST", "segments/users", { filter: OPEN, limit: 1_000 }),
  },
  {
    name: `${CLIENTS} clients that do not read exports, previews, lists and streams`,
    before: "2.8 GB of memory",
    bounds: { grownMb: 200 },
    prepare: fillLarge,
    run: (target) =>
      holdSockets(target, { count: CLIENTS, bytes: largeRequests(target), reads: false }),
  },
  {
    name: "two readers of a workspace that occupy its export slots",
    before: "503 for the exports of all others",
    prepare: fillLarge,
    run: async (target) => {
      const exportOf = (workspace: string) =>
        target.admin("GET", `/admin/v1/workspaces/${workspace}/export/users`);
      const isServed = async () => {
        const { status } = await exportOf("victim");
        mustHold(status === 200, `An export of others is ${status}.`);
      };
      const bytes = stream(target);
      return holdSockets(target, { count: 2, bytes, reads: false, meanwhile: isServed });
    },
  },
];
