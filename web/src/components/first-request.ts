/** A request to paste into a terminal. */
export const firstRequest = (
  url: string,
): string => `curl ${url}/users/track -H 'Authorization: Bearer YOUR_API_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"events":[{"external_id":"ada","name":"signed_up","time":"2026-01-01T12:00:00Z"}]}'`;
