import Type from "typebox";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { MOST_GROUPS } from "../../base/context/workspace.ts";
import { ClosedObject, Text } from "../../base/values/schemas.ts";
import { listedResource } from "./listed-resource.ts";
import { ChannelName, DeclaredId, Name } from "./manifest.ts";
import { type DeclaredGroup, deleteGroups, selectGroups, upsertGroups } from "./store.ts";

export { type GroupRow as SubscriptionGroup, selectGroups as readGroups } from "./store.ts";

/** Removing a group keeps the states that users chose. */
export const subscriptionGroups = listedResource<DeclaredGroup, WorkspaceContext>({
  key: "subscription_groups",
  about:
    "Lists of messages that users of the workspace can subscribe to. Removing a group keeps their states.",
  schema: ClosedObject({
    id: DeclaredId,
    name: Name,
    channel: ChannelName,
    description: Type.Optional(
      Text(
        "A description for subscribers, shown on the page where they choose.",
        "News, once a month.",
        { minLength: 1, maxLength: 500 },
      ),
    ),
  }),
  identity: "id",
  kind: "subscription_group",
  permissions: { read: "basic_access", write: "manage_subscription_groups" },
  most: MOST_GROUPS,
  nameOf: (group) => group.name,
  select: (database, { workspace }) => selectGroups(database, workspace.id),
  save: (tx, { workspace }, entries) => upsertGroups(tx, workspace.id, entries),
  remove: (tx, { workspace }, entries) => deleteGroups(tx, workspace.id, entries),
});
