import { isIP } from "node:net";
import { networks, plainAddress } from "../../outbound/networks.ts";

export { isNetwork as isAllowlistEntry } from "../../outbound/networks.ts";

/**
 * Returns a function that checks whether an address is on a list; an empty list allows all
 * addresses.
 */
export function allowlistOf(entries: readonly string[]): (ip: string) => boolean {
  if (entries.length === 0) return () => true;
  const isListed = networks(entries);
  // A proxy may pass on any text; a text that is not an address is on no list.
  return (ip) => isIP(ip) !== 0 && isListed(plainAddress(ip));
}
