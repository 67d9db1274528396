import type { SubscriptionGroup } from "../../core/admin/workspaces/subscription-groups.ts";
import type { Reader } from "./page-scope.ts";

/** A made-up reader for previews: subscribed to every other group. */
export const sampleReader = (
  groups: readonly SubscriptionGroup[],
  ofWorkspace: Pick<Reader, "brand" | "imageHosts"> = { brand: {}, imageHosts: [] },
): Reader => ({
  profileId: "00000000-0000-0000-0000-000000000000",
  externalId: "sample-user",
  email: "sam.sample@example.com",
  phone: "+14155552671",
  standardAttributes: {
    first_name: "Sam",
    last_name: "Sample",
    country: "US",
    language: "en",
    home_city: "Springfield",
  },
  customAttributes: {},
  emailState: "subscribed",
  groupStates: new Map(
    groups.map(({ id }, index) => [id, index % 2 === 0 ? "subscribed" : "unsubscribed"]),
  ),
  groups,
  ...ofWorkspace,
});
