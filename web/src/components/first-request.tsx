import { Link } from "@tanstack/react-router";

/** A request to paste into a terminal. */
export const firstRequest = (
  url: string,
): string => `curl ${url}/users/track -H 'Authorization: Bearer YOUR_API_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"events":[{"external_id":"ada","name":"signed_up","time":"${new Date().toISOString()}"}]}'`;

/** Where YOUR_API_KEY comes from. */
export const KeysLink = ({ workspace }: { readonly workspace: string }) => (
  <Link
    to="/w/$workspace/settings/$section"
    params={{ workspace, section: "keys" }}
    className="link"
  >
    API key of this workspace
  </Link>
);
