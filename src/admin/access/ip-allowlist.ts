import { BlockList, isIP } from "node:net";

/** Whether a text is an IP address or a CIDR block, such as `10.0.0.0/8` or `2001:db8::/32`. */
export function isAllowlistEntry(entry: string): boolean {
  const [address = "", prefix, ...more] = entry.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** Returns a function that tells whether an address is on a list; an empty list allows all addresses. */
export function allowlistOf(entries: readonly string[]): (ip: string) => boolean {
  if (entries.length === 0) return () => true;
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return (ip) => {
    // A proxy may pass on any text; one that is no address is on no list.
    if (isIP(ip) === 0) return false;
    // An IPv4 caller on a socket for both versions looks like ::ffff:10.0.0.1.
    const plain = ip.replace(/^::ffff:(?=\d+\.)/i, "");
    return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
  };
}
