import { Select } from "@mantine/core";
import { Bell, Mail } from "lucide-react";
import { useMemo } from "react";
import { useGroupNames, useGroups } from "../../api/groups.ts";
import { morePages } from "../../api/pages.ts";
import { profileOf, type UserRecord, useChangeUser, useTimeline } from "../../api/users.ts";
import { changedBy } from "../../components/changed-by.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { Absent, Card } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { channelName, StateTag, sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { changeUsersIn } from "./change-users.ts";

interface SubscriptionsProps {
  readonly workspace: string;
  readonly record: UserRecord;
}

interface State {
  readonly id: string;
  readonly name: string;
  readonly channel: string;
  readonly address: string | null;
  readonly state: string | null;
  readonly changedAt: string | null;
}

/** The email state and every group: what the user gets, and since when. */
export function Subscriptions({ workspace, record }: SubscriptionsProps) {
  const groups = useGroups(workspace);
  const change = useChangeUser(workspace, profileOf(record).platform_id);
  const missing = useMissing(changeUsersIn(workspace));
  const write = ({ id }: State, state: string) =>
    change(
      id === "email"
        ? { email_subscribe: state }
        : { subscription_groups: [{ subscription_group_id: id, subscription_state: state }] },
    );
  const set = async (row: State, state: string) => {
    const { name, state: before } = row;
    try {
      await write(row, state);
      // A state that was never set cannot be brought back.
      const undo = before ? () => write(row, before) : undefined;
      tellDone(`${name} is set to ${sentence(state)}.`, undo);
    } catch (error) {
      tellFailed(error);
    }
  };
  return (
    <div className="stack">
      <Loaded from={groups}>
        {({ subscription_groups }) => (
          <DataTable
            label="Subscription states"
            columns={columnsOf(set, missing)}
            rows={statesOf(record, subscription_groups)}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Bell} title="No subscription groups">
                Declare groups under Subscription groups; the email state appears with an address.
              </Empty>
            }
          />
        )}
      </Loaded>
      <StateHistory workspace={workspace} id={profileOf(record).platform_id} />
    </div>
  );
}

interface Group {
  readonly id: string;
  readonly name: string;
  readonly channel: string;
}

function statesOf({ subscriptions }: UserRecord, groups: readonly Group[]): State[] {
  const { email } = subscriptions;
  const ofGroups = groups.map(({ id, name, channel }) => {
    const known = subscriptions.groups.find((each) => each.subscription_group_id === id);
    const { state = null, address = null, changed_at: changedAt = null } = known ?? {};
    return { id, name, channel, address, state, changedAt };
  });
  if (!email) return ofGroups;
  const { address, state, set_at: changedAt } = email;
  return [
    { id: "email", name: "All email", channel: "email", address, state, changedAt },
    ...ofGroups,
  ];
}

const columnsOf = (
  set: (row: State, state: string) => Promise<void>,
  /** Why the person may not change a state. */
  missing: string | undefined,
): readonly Column<State>[] => [
  {
    id: "name",
    header: "Group",
    cell: ({ row: { original: row } }) => (
      <>
        {row.id === "email" && <Mail size={13} aria-hidden />} {row.name}
      </>
    ),
  },
  {
    id: "channel",
    header: "Channel",
    meta: { width: "8rem" },
    cell: ({ row }) => channelName(row.original.channel),
  },
  {
    id: "address",
    header: "Address",

    cell: ({ row }) => row.original.address ?? <Absent />,
  },
  {
    id: "state",
    header: "State",
    meta: { width: "11rem" },
    cell: ({ row: { original: row } }) => (
      <Select
        size="xs"
        aria-label={`State of ${row.name}`}
        readOnly={missing !== undefined}
        title={missing}
        aria-description={missing}
        placeholder="Not set"
        value={row.state}
        data={[...(row.id === "email" ? ["opted_in"] : []), "subscribed", "unsubscribed"].map(
          (value) => ({ value, label: sentence(value) }),
        )}
        onChange={(state) => state && state !== row.state && void set(row, state)}
      />
    ),
  },
  {
    id: "changed",
    header: "Changed",
    meta: { width: "8.5rem" },
    cell: ({ row: { original: row } }) =>
      row.changedAt ? <Time at={row.changedAt} /> : <Absent />,
  },
];

function StateHistory({ workspace, id }: { readonly workspace: string; readonly id: string }) {
  const names = useGroupNames(workspace);
  const pages = useTimeline(workspace, id, { kind: "subscription" });
  const changes = useMemo(
    () =>
      pages.data?.pages.flatMap(({ entries }) =>
        entries.flatMap((entry) => (entry.kind === "subscription" ? [entry] : [])),
      ) ?? [],
    [pages.data],
  );
  return (
    <Card title="History" flush>
      <Loaded from={pages}>
        {() =>
          changes.length === 0 ? (
            <Empty icon={Bell} title="No state was ever changed" />
          ) : (
            <DataTable
              label="History of states"
              rows={changes}
              keyOf={(change) => change.id}
              empty={null}
              more={morePages(pages)}
              columns={[
                {
                  id: "what",
                  header: "Group or address",
                  cell: ({ row }) =>
                    row.original.email ??
                    names.get(row.original.subscription_group_id ?? "") ??
                    row.original.subscription_group_id,
                },
                {
                  id: "state",
                  header: "State",
                  meta: { width: "8rem" },
                  cell: ({ row }) => <StateTag state={row.original.subscription_state} />,
                },
                {
                  id: "call",
                  header: "Changed by",
                  cell: ({ row }) => changedBy(row.original),
                },
                {
                  id: "at",
                  header: "When",
                  meta: { width: "11rem" },
                  cell: ({ row }) => <Time at={row.original.at} as="clock" />,
                },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
