import type { Webhook } from "../../api/webhooks.ts";
import { Time } from "../../components/time.tsx";

/** Since when the oldest change is under way. What waits behind a pause is not known. */
export const Behind = ({ webhook }: { readonly webhook: Webhook }) => (
  <Time
    at={webhook.behind_since}
    absent={webhook.state === "active" ? "Up to date" : "Keeps its place"}
  />
);
