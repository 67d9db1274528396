/**
 * The hosts and ports that a PostgreSQL URL names; several are separated by commas. A socket in the file system is none.
 */
export function hostsOf(url: string): { host: string; port: number }[] {
  const [, authority = ""] = /^postgres(?:ql)?:\/\/(?:[^@/?]*@)?([^/?]*)/.exec(url) ?? [];
  return authority
    .split(",")
    .map((each) => /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(each))
    .filter((found) => found !== null)
    .map(([, host = "", port = "5432"]) => ({
      host: decoded(host) || "localhost",
      port: Number(port),
    }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
