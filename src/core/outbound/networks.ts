import { BlockList, isIP } from "node:net";

/*
 * Which addresses a server may call on behalf of others. IANA's registries of special-purpose
 * addresses (RFC 6890) list addresses that are not hosts of the internet; the metadata services of
 * clouds are among them, except Azure's.
 */

/** Private, loopback, link-local, unique local, documentation, multicast, reserved; metadata services with them. */
const SPECIAL = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** Only these IPv6 addresses belong to the internet, without those that embed an IPv4 address. */
const GLOBAL_IPV6 = ["2000::/3"];

const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** Whether a text is an IP address or a CIDR block, such as `10.0.0.0/8` or `2001:db8::/32`. */
export function isNetwork(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** @param entries addresses and CIDR blocks. */
export function networks(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

const isSpecial = networks([...SPECIAL, ...SPECIAL_IPV6]);

const isGlobalIpv6 = networks(GLOBAL_IPV6);

/** Whether an address, as `plainAddress` writes it, is one of the internet. */
export const isPublic = (address: string): boolean =>
  !isSpecial(address) && (isIP(address) === 4 || isGlobalIpv6(address));

/**
 * An address in one form: without a zone; an IPv4 address that is written as IPv6
 * (`::ffff:10.0.0.1`, `::ffff:a00:1`) becomes IPv4, because the system connects to that.
 */
export function plainAddress(address: string): string {
  const withoutZone = address.replace(/%.*$/, "");
  if (isIP(withoutZone) !== 6) return withoutZone;
  // The URL parser normalizes an address: lower case, no leading zeros, dotted ends as groups.
  const normal = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normal);
  if (!mapped) return normal;
  const [high = 0, low = 0] = mapped.slice(1).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/**
 * The key under which callers are counted by address: an IPv4 address; the /64 of an IPv6 address,
 * which usually belongs to one caller; or any other text, which a trusted proxy may pass on.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  const version = isIP(plain);
  if (version === 4) return plain;
  if (version === 0) return "unknown";
  const [head = "", tail = ""] = plain.split("::");
  const [before, behind] = [head, tail].map((part) => part.split(":").filter(Boolean));
  const groups = [...(before ?? []), ...(behind ?? [])];
  const zeros = Array<string>(8 - groups.length).fill("0");
  return [...(before ?? []), ...zeros, ...(behind ?? [])].slice(0, 4).join(":");
}
