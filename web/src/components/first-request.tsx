import { Link } from "@tanstack/react-router";
import { useWorkspace } from "../api/workspace.ts";

/** A request to paste into a terminal. */
export const firstRequest = (
  url: string,
  key = "YOUR_API_KEY",
): string => `curl ${url}/users/track -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"events":[{"external_id":"ada","name":"signed_up","time":"${new Date().toISOString()}"}]}'`;

/** Where YOUR_API_KEY comes from. */
export const KeysLink = () => (
  <Link
    to="/w/$workspace/settings/$section"
    params={{ workspace: useWorkspace(), section: "keys" }}
    className="link"
  >
    API key of this workspace
  </Link>
);
