import { Fingerprint } from "lucide-react";
import { useMemo } from "react";
import { nameOf } from "../../api/name-of.ts";
import { morePages } from "../../api/pages.ts";
import { profileOf, type TimelineEntry, type UserRecord, useTimeline } from "../../api/users.ts";
import { changedBy } from "../../components/changed-by.ts";
import { ListFoot } from "../../components/data-table.tsx";
import { Card } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { sentence, Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import type { TabProps } from "./tab.ts";

/** The identifiers of this user, and how each came to the user. */
export function Identity({ record }: TabProps) {
  return (
    <div className="stack">
      <Card title="Identity graph">
        <Graph record={record} />
      </Card>
      <Card title="History of the identity">
        <IdentityHistory id={profileOf(record).platform_id} />
      </Card>
    </div>
  );
}

interface Edge {
  readonly kind: string;
  readonly value: string;
  /** Whether it once named a separate user, or was the id before a rename. */
  readonly isRedirect: boolean;
}

function edgesOf(record: UserRecord): Edge[] {
  const profile = profileOf(record);
  const edge = (kind: string, value: string | null | undefined, isRedirect = false): Edge[] =>
    value ? [{ kind, value, isRedirect }] : [];
  return [
    ...edge("external id", profile.external_id),
    ...profile.user_aliases.flatMap((each) => edge(`alias ${each.alias_label}`, each.alias_name)),
    ...edge("email", profile.email),
    ...edge("phone", profile.phone),
    ...edge("platform id", profile.platform_id),
    ...record.redirects.flatMap((each) => [
      ...edge("former external id", each.external_id, true),
      ...edge("merged user", each.platform_id, true),
    ]),
  ];
}

/** The user in the middle of a tree: its identifiers are a list, and lines join them. */
function Graph({ record }: { readonly record: UserRecord }) {
  return (
    <div className="graph">
      <div className="graph-user">
        <Fingerprint size={18} aria-hidden />
        <bdi>{nameOf(profileOf(record))}</bdi>
      </div>
      <ul className="graph-edges">
        {edgesOf(record).map(({ kind, value, isRedirect }) => (
          <li key={`${kind} ${value}`} data-redirect={isRedirect}>
            <bdi className="dim">{kind}</bdi>
            <bdi className="mono">{value}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

type IdentityEntry = Extract<TimelineEntry, { kind: "identity" }>;

function IdentityHistory({ id }: { readonly id: string }) {
  const pages = useTimeline(id, { kind: "identity" });
  const entries = useMemo(
    () =>
      pages.data?.pages.flatMap((page) =>
        page.entries.filter((entry): entry is IdentityEntry => entry.kind === "identity"),
      ) ?? [],
    [pages.data],
  );
  return (
    <Loaded from={pages} lines={2}>
      {() =>
        entries.length === 0 ? (
          <Empty icon={Fingerprint} title="Never merged or identified" />
        ) : (
          <>
            <ol className="plain-list">
              {entries.map((entry) => (
                <li key={entry.id}>
                  <Tag tone="info">{sentence(entry.action)}</Tag>{" "}
                  {entry.merged_platform_id && (
                    <span className="mono">{entry.merged_platform_id}</span>
                  )}{" "}
                  <span className="dim">
                    {changedBy(entry)} · <Time at={entry.at} />
                  </span>
                </li>
              ))}
            </ol>
            <ListFoot count={entries.length} more={morePages(pages)} />
          </>
        )
      }
    </Loaded>
  );
}
