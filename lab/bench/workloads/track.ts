import { updatesFloor } from "../floors/updates.ts";
import type { Random } from "./random.ts";
import { attributesOf, eventOf } from "./updates.ts";
import { type Distribution, emailOf, externalIdOf, type UserPicker } from "./users.ts";
import type { Workload } from "./workload.ts";

export const attributesObject = (
  user: number,
  { standard, custom }: ReturnType<typeof attributesOf>,
) => ({ external_id: externalIdOf(user), ...standard, ...custom });

export const eventObject = (
  user: number,
  { name, at, properties }: ReturnType<typeof eventOf>,
) => ({ external_id: externalIdOf(user), name, time: new Date(at).toISOString(), properties });

/** As `POST /users/track` takes it. */
interface TrackBody {
  readonly attributes?: readonly unknown[];
  readonly events?: readonly unknown[];
}

const bareAnswer = ({ attributes, events }: TrackBody) => ({
  ...(attributes && { attributes_processed: attributes.length }),
  ...(events && { events_processed: events.length }),
  message: "success",
});

const tracking = {
  unit: "updates",
  path: "/users/track",
  faults: ['"errors"', '"skipped"'],
  bareAnswer,
  floor: updatesFloor,
} as const;

const UPDATES = 50;

const fullBody = (random: Random, pick: UserPicker): TrackBody => ({
  attributes: Array.from({ length: UPDATES / 2 }, () =>
    attributesObject(pick(), attributesOf(random)),
  ),
  events: Array.from({ length: UPDATES / 2 }, () => eventObject(pick(), eventOf(random))),
});

const full = (name: string, distribution: Distribution, about: string): Workload => ({
  ...tracking,
  name,
  about,
  distribution,
  unitsPerRequest: UPDATES,
  connections: 64,
  bodies: 8_000,
  body: fullBody,
  proof: { table: "events", rowsPerRequest: UPDATES / 2 },
});

export const track = full(
  "track",
  "uniform",
  "50 updates a request, half attributes and half events, every user as likely as any other.",
);

/** Like most senders: every attributes object repeats the address that the user has. */
export const trackProfiles: Workload = {
  ...full(
    "track-profiles",
    "uniform",
    "The same with the user's email in every attributes object.",
  ),
  addresses: true,
  body: (random, pick) => ({
    attributes: Array.from({ length: UPDATES / 2 }, () => {
      const user = pick();
      return { email: emailOf(user), ...attributesObject(user, attributesOf(random)) };
    }),
    events: Array.from({ length: UPDATES / 2 }, () => eventObject(pick(), eventOf(random))),
  }),
};

/** Every user is new: 25 in each request, with attributes and an event. */
const newUsers = (
  name: string,
  about: string,
  emailOfNew?: (user: string) => string,
): Workload => ({
  ...full(name, "uniform", about),
  isSentOnce: true,
  body: (random, _pick, index) => {
    const users = Array.from({ length: UPDATES / 2 }, (_, place) => `new-${index}-${place}`);
    const named = (external_id: string) => ({ external_id });
    return {
      attributes: users.map((user) => ({
        ...attributesObject(0, attributesOf(random)),
        ...(emailOfNew && { email: emailOfNew(user) }),
        ...named(user),
      })),
      events: users.map((user) => ({ ...eventObject(0, eventOf(random)), ...named(user) })),
    };
  },
});

export const trackNew = newUsers("track-new", "The same with new users only, 25 in each request.");

export const trackNewEmails = newUsers(
  "track-new-emails",
  "The same with new users only, each with a new email.",
  (user) => `${user}@example.com`,
);

export const trackSkewed = full(
  "track-skewed",
  "zipf",
  "The same with a few users who take most of the load (Zipf, exponent 0.99).",
);

export const trackSingle: Workload = {
  ...tracking,
  name: "track-single",
  about: "One update a request, in turn an attributes object and an event.",
  distribution: "uniform",
  unitsPerRequest: 1,
  connections: 256,
  bodies: 200_000,
  body: (random, pick, index) =>
    index % 2 === 0
      ? { attributes: [attributesObject(pick(), attributesOf(random))] }
      : { events: [eventObject(pick(), eventOf(random))] },
};
