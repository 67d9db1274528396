import Type from "typebox";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { EmailStateName } from "../../base/values/email-states.ts";
import { succeeding } from "../../base/values/schemas.ts";
import { ItemNote } from "../../base/verdicts.ts";
import { endpoint, success, withPermission } from "../../http/endpoint.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import { checkAddresses, MOST_NAMES } from "./check-names.ts";
import { Addresses, checkManySets, checkOneSet, ManySets, OneSet } from "./check-set.ts";
import { type ReadServices, readStatus } from "./read-status.ts";
import { readUserGroups, UserGroups } from "./read-user-groups.ts";
import { refuseUnseen } from "./refuse-unseen.ts";
import { setEmailStates } from "./set-email-states.ts";
import type { GroupSet, SetQueue } from "./set-group-states.ts";

const NEWSLETTER = "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20";

const SetReply = Type.Object({
  message: Type.Literal("success"),
  skipped: Type.Optional(Type.Array(ItemNote)),
});

const successWith = (skipped: ItemNote[]) => ({
  status: 201 as const,
  body: { message: "success" as const, ...(skipped.length > 0 && { skipped }) },
});

async function setStates(
  services: PeopleServices & { readonly setQueue: SetQueue },
  context: WorkspaceContext,
  sets: readonly GroupSet[],
) {
  const named = sets.flatMap((set) => set.named);
  await refuseUnseen(services.database, context.workspace, named);
  return successWith(await services.setQueue.set(services, context, sets));
}

const setManyEndpoint = endpoint({
  name: "setSubscriptionStates",
  method: "POST",
  path: "/v2/subscription/status/set",
  summary: "Sets subscription group states of users, several groups at once.",
  description:
    "All or nothing. Users who share an email address all get the state. An object names users by `external_ids`, `emails` or `phones`; `emails` and `phones` cannot be combined.",
  examples: {
    "Two groups": {
      subscription_groups: [
        {
          subscription_group_id: NEWSLETTER,
          subscription_state: "subscribed",
          external_ids: ["ada"],
          emails: ["grace@example.com"],
        },
        {
          subscription_group_id: "1f6a0f0b-43d4-4b1c-8f43-5a3c6e0d7b9e",
          subscription_state: "unsubscribed",
          phones: ["+14155552671"],
        },
      ],
    },
  },
  access: withPermission("subscription.status.set"),
  body: ManySets,
  replies: { 201: SetReply },
}).handledBy(
  async (services: PeopleServices & { readonly setQueue: SetQueue }, context, { body }) =>
    setStates(services, context, checkManySets(context.workspace, body)),
);

const setOneEndpoint = endpoint({
  name: "setSubscriptionState",
  method: "POST",
  path: "/subscription/status/set",
  summary: "Sets a subscription group state of users.",
  description:
    "An email group needs `external_id` or `email`, an SMS or WhatsApp group `external_id` or `phone`.",
  examples: {
    "By external_id": {
      subscription_group_id: NEWSLETTER,
      subscription_state: "subscribed",
      external_id: ["ada"],
    },
    "By email address": {
      subscription_group_id: NEWSLETTER,
      subscription_state: "unsubscribed",
      email: ["ada@example.com"],
    },
  },
  access: withPermission("subscription.status.set"),
  body: OneSet,
  replies: { 201: SetReply },
}).handledBy(
  async (services: PeopleServices & { readonly setQueue: SetQueue }, context, { body }) =>
    setStates(services, context, checkOneSet(context.workspace, body)),
);

const emailStatusEndpoint = endpoint({
  name: "setEmailState",
  method: "POST",
  path: "/email/status",
  summary: "Sets the email subscription state of addresses.",
  description: "A state for an address that no user has yet applies as soon as one gets it.",
  examples: { "An opt-in": { email: ["ada@example.com"], subscription_state: "opted_in" } },
  access: withPermission("email.status"),
  body: Type.Object({
    email: Type.Union([Type.String(), Addresses]),
    subscription_state: EmailStateName,
  }),
  replies: { 201: SetReply },
}).handledBy(async (services: PeopleServices, context, { body }) => {
  const named = checkAddresses(body);
  await refuseUnseen(services.database, context.workspace, named);
  const addresses = named.map(({ identifier }) => identifier);
  await setEmailStates(services, context, addresses, body.subscription_state);
  return successWith([]);
});

const Asked = Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: MOST_NAMES }));

const readStatusEndpoint = endpoint({
  name: "getSubscriptionState",
  method: "GET",
  path: "/subscription/status/get",
  summary: "Reads the state of users in a subscription group.",
  access: withPermission("subscription.status.get"),
  query: Type.Object({
    subscription_group_id: Type.String(),
    external_id: Asked,
    // At most 50 too; ignored if external_id is present.
    email: Type.Optional(Type.Array(Type.String())),
    phone: Type.Optional(Type.Array(Type.String())),
  }),
  replies: succeeding({
    status: Type.Record(Type.String(), Type.Enum(["Subscribed", "Unsubscribed", "Unknown"])),
  }),
}).handledBy(async (services: ReadServices, { workspace }, { query }) =>
  success({ status: await readStatus(services, workspace, query) }),
);

const userStatusEndpoint = endpoint({
  name: "listUserSubscriptions",
  method: "GET",
  path: "/subscription/user/status",
  summary: "Lists the subscription groups of users with their states.",
  access: withPermission("subscription.groups.get"),
  query: Type.Object({
    external_id: Asked,
    email: Asked,
    phone: Asked,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    offset: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  replies: succeeding({
    users: Type.Array(UserGroups),
    total_count: Type.Integer({ minimum: 0 }),
  }),
}).handledBy(async (services: ReadServices, { workspace }, { query }) =>
  success(await readUserGroups(services, workspace, query)),
);

export const subscriptionEndpoints = [
  setManyEndpoint,
  setOneEndpoint,
  emailStatusEndpoint,
  readStatusEndpoint,
  userStatusEndpoint,
];
