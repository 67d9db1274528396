import { useEarlierEntries } from "../../api/administration.ts";
import type { Schemas } from "../../api/client.ts";
import { originOf, whoOf } from "../../components/changed-by.ts";
import { Json } from "../../components/json.tsx";
import { Facts } from "../../components/page.tsx";
import { Loading } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

export type Entry = Schemas["AuditEntry"];

type Members = Readonly<Record<string, unknown>>;

/** `API key` for `api_key`. */
const NOUNS: Readonly<Record<string, string>> = {
  api_key: "API key",
  scim_token: "SCIM token",
  dashboard_user: "colleague",
  dashboard_session: "session",
  dashboard_password: "password",
  dashboard_passkey: "passkey",
  dashboard_credentials: "ways to sign in",
  permission_set: "role",
  sign_in_link: "sign-in link",
};

export const nounOf = (kind: string): string => NOUNS[kind] ?? kind.replaceAll("_", " ");

/** What was done, without the name: `Created segment`. */
export function deedOf({ action, kind, details }: Entry): string {
  if (kind === "dashboard_session" && action === "started") {
    return `Signed in with ${WAYS[String(details?.way)] ?? "another way"}:`;
  }
  if (kind === "dashboard_session" && action === "ended") return "Signed out";
  if (kind === "invitation" && action === "created") return "Invited";
  return `${sentence(action)} ${nounOf(kind)}`;
}

const WAYS: Readonly<Record<string, string>> = {
  password: "a password",
  passkey: "a passkey",
  invitation: "an invitation",
  oidc: "single sign-on",
  link: "a link",
  admin_token: "the admin token",
};

/** An open entry: what changed, before and after, and the facts about the request. */
export const EntryDetail = ({ entry }: { readonly entry: Entry }) => (
  <div className="stack">
    <Changes entry={entry} />
    <Facts
      of={[
        ["When", <Time key="at" at={entry.at} as="exact" />],
        ["By", `${whoOf(entry)} ${originOf(entry)}`],
        ...(entry.address ? [["From", entry.address] as const] : []),
        ...(entry.label ? [["Id", <code key="id">{entry.name}</code>] as const] : []),
        ...(entry.call ? [["Call", <code key="call">{entry.call}</code>] as const] : []),
        ...(entry.request_id
          ? [["Request", <code key="request">{entry.request_id}</code>] as const]
          : []),
      ]}
    />
  </div>
);

const isPatch = (details: Members | null): boolean =>
  details !== null && ("before" in details || "after" in details);

function Changes({ entry }: { readonly entry: Entry }) {
  const { details, action, kind, name, id } = entry;
  const isWhole = action === "updated" && details !== null && !isPatch(details);
  const earlier = useEarlierEntries({ kind, name, before: id }, isWhole);
  if (details === null) return null;
  if (isPatch(details)) {
    const { before, after } = details as { before?: Members; after?: Members };
    return <BeforeAndAfter before={before ?? {}} after={after ?? {}} />;
  }
  if (!isWhole) return <BeforeAndAfter before={undefined} after={details} />;
  if (earlier.isPending) return <Loading lines={2} />;
  const before = stateBefore(entry.workspace, earlier.data?.entries ?? []);
  if (!before) return <BeforeAndAfter before={undefined} after={details} />;
  const changed = Object.keys({ ...before, ...details }).filter(
    (member) => JSON.stringify(before[member]) !== JSON.stringify(details[member]),
  );
  return <BeforeAndAfter before={pick(before, changed)} after={pick(details, changed)} />;
}

const pick = (from: Members, names: readonly string[]): Members =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

/** The state that earlier entries left, the latest of them first; undefined if none of them has a whole one. */
function stateBefore(workspace: string | null, entries: readonly Entry[]): Members | undefined {
  const same = entries.filter((each) => each.workspace === workspace && each.details !== null);
  const whole = same.findIndex(({ details }) => !isPatch(details));
  if (whole < 0) return undefined;
  const later = same.slice(0, whole).reverse();
  return Object.assign({}, same[whole]?.details, ...later.map(({ details }) => details?.after));
}

interface BeforeAndAfterProps {
  /** Undefined if there was nothing, or nothing is known of it. */
  readonly before: Members | undefined;
  readonly after: Members;
}

/** Members with their values before and after. */
function BeforeAndAfter({ before, after }: BeforeAndAfterProps) {
  const names = Object.keys({ ...before, ...after });
  if (names.length === 0) return null;
  return (
    <table className="changes">
      <thead>
        <tr>
          <th scope="col">What</th>
          {before && <th scope="col">Before</th>}
          <th scope="col">{before ? "After" : "Value"}</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{sentence(name)}</th>
            {before && (
              <td>
                <Value of={before[name]} />
              </td>
            )}
            <td>
              <Value of={after[name]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ of: value }: { readonly of: unknown }) {
  if (value === undefined || value === null) return <span className="dim">–</span>;
  if (typeof value === "string") return <bdi>{value}</bdi>;
  if (typeof value !== "object") return String(value);
  const isPlainList = Array.isArray(value) && value.every((each) => typeof each === "string");
  if (isPlainList) return value.length > 0 ? value.join(", ") : <span className="dim">None</span>;
  return <Json value={value} label="Value" />;
}
