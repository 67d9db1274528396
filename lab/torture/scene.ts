/* The workspace of one round, and what every kind of load knows of it. */
import { ALERTS, NEWSLETTER } from "../../test/harness.ts";
import type { Response, TortureClient } from "./client.ts";

export interface Scene {
  readonly client: TortureClient;
  readonly name: string;
  readonly seed: number;
  /** Sends a request with the key of the workspace. */
  call(path: string, body: unknown): Promise<Response>;
  /** The same, once: undefined if it is not known what became of it. */
  callOnce(path: string, body: unknown): Promise<Response | undefined>;
  /** The same, of a call that reads. */
  read(path: string): Promise<Response>;
  profiles(request: Record<string, unknown>): Promise<Record<string, any>[]>;
  /** False once the load has to end. */
  readonly goesOn: () => boolean;
}

/** A kind of load: it runs until the scene ends, and then knows what must be stored. */
export interface Load {
  run(): Promise<void>;
  /** @throws AssertionError if something acknowledged is lost, doubled or wrong. */
  check(): Promise<void>;
  /** How many acknowledged items it checks. */
  items(): number;
}

export const INTEGRATION = "6b2d1f3c-55d8-4f0e-9a3f-0f6d7c1b2a90";

/** Creates the workspace of a round, with a sync of a file. */
export async function createScene(
  client: TortureClient,
  round: { readonly name: string; readonly seed: number; readonly syncedFile: string },
  goesOn: () => boolean,
): Promise<Scene> {
  const { name, seed } = round;
  const key = `key-of-the-torture-in-${name}`;
  const warehouse = { type: "files", url: round.syncedFile };
  const { status, body } = await client.admin("POST", "/admin/v1/apply", {
    company: { name: "Torture" },
    workspaces: [
      {
        name,
        api_keys: [{ name: "torture", key, permissions: ["all"] }],
        settings: { rate_limits: { "users.track": "off" } },
        subscription_groups: [
          { id: NEWSLETTER, name: "Newsletter", channel: "email" },
          { id: ALERTS, name: "Alerts", channel: "sms" },
        ],
        integrations: [{ id: INTEGRATION, name: "Events", type: "events", warehouse }],
      },
    ],
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const call: Scene["call"] = (path, sent) => client.call(key, path, sent);
  return {
    client,
    name,
    seed,
    call,
    callOnce: (path, sent) => client.callOnce(key, path, sent),
    read: (path) => client.read(key, path),
    goesOn,
    async profiles(request) {
      const response = await call("/users/export/ids", request);
      if (response.status !== 201) throw new Error(JSON.stringify(response.body));
      return response.body.users;
    },
  };
}

/** How often each user had each event, as `user event`. */
export async function eventCounts(
  scene: Scene,
  external_ids: readonly string[],
): Promise<Map<string, number>> {
  const users = await scene.profiles({
    external_ids,
    fields_to_export: ["external_id", "custom_events"],
  });
  return new Map(
    users.flatMap(({ external_id, custom_events }) =>
      custom_events.map(({ name, count }: any) => [`${external_id} ${name}`, count] as const),
    ),
  );
}
