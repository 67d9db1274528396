import { Time } from "../../components/time.tsx";
import type { Webhook } from "./api.ts";

/** Since when the oldest change is under way. What waits behind a pause is not known. */
export const Behind = ({ webhook }: { readonly webhook: Webhook }) => (
  <Time
    at={webhook.behind_since}
    absent={webhook.state === "active" ? "Up to date" : "Keeps its place"}
  />
);
