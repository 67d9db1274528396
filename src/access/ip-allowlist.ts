import { BlockList, isIP } from "node:net";

/** Whether a text is an IP address or a CIDR block, such as `10.0.0.0/8` or `2001:db8::/32`. */
export function isAllowlistEntry(entry: string): boolean {
  const [address = "", prefix, ...more] = entry.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** Whether an address is on the list; an empty list allows all addresses. */
export function isAllowed(allowlist: readonly string[], ip: string): boolean {
  if (allowlist.length === 0) return true;
  const list = new BlockList();
  for (const entry of allowlist) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  }
  // A proxy may pass on anything; what is no address is on no list.
  if (isIP(ip) === 0) return false;
  // An IPv4 caller on a socket for both versions looks like ::ffff:10.0.0.1.
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, "");
  return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}
