import { Select } from "@mantine/core";
import { Bell, Mail } from "lucide-react";
import { type Group, useGroupNames, useGroups } from "../../api/groups.ts";
import {
  profileOf,
  type TimelineEntry,
  type UserRecord,
  useChangeUser,
  useTimeline,
} from "../../api/users.ts";
import { changedBy } from "../../components/changed-by.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { LoadedTable, PagedTable } from "../../components/loaded-table.tsx";
import { Absent, Card } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Empty } from "../../components/states.tsx";
import { channelName, StateTag, sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { CHANGE_USERS } from "./change-users.ts";
import type { TabProps } from "./tab.ts";

interface State {
  readonly id: string;
  readonly name: string;
  readonly channel: string;
  readonly address: string | null;
  readonly state: string | null;
  readonly changedAt: string | null;
}

/** The email state and every group: what the user gets, and since when. */
export function Subscriptions({ record }: TabProps) {
  const groups = useGroups();
  const change = useChangeUser(profileOf(record).platform_id);
  const missing = useMissing(CHANGE_USERS);
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
      <LoadedTable
        from={groups}
        label="Subscription states"
        columns={columnsOf(set, missing)}
        rows={({ subscription_groups }) => statesOf(record, subscription_groups)}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={Bell} title="No subscription groups">
            Declare groups under Subscription groups; the email state appears with an address.
          </Empty>
        }
      />
      <StateHistory id={profileOf(record).platform_id} />
    </div>
  );
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
  column("Group", (row) => (
    <>
      {row.id === "email" && <Mail size={13} aria-hidden />} {row.name}
    </>
  )),
  column("Channel", { width: "8rem" }, ({ channel }) => channelName(channel)),
  column("Address", ({ address }) => address ?? <Absent />),
  column("State", { width: "11rem" }, (row) => (
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
  )),
  column("Changed", { width: "8.5rem" }, (row) =>
    row.changedAt ? <Time at={row.changedAt} /> : <Absent />,
  ),
];

function StateHistory({ id }: { readonly id: string }) {
  const names = useGroupNames();
  return (
    <Card title="History" flush>
      <PagedTable
        from={useTimeline(id, { kind: "subscription" })}
        label="History of states"
        columns={historyColumns(names)}
        rows={({ entries }) => entries.filter(isChange)}
        keyOf={({ id: change }) => change}
        empty={<Empty icon={Bell} title="No state was ever changed" />}
      />
    </Card>
  );
}

type StateChange = Extract<TimelineEntry, { kind: "subscription" }>;

const isChange = (entry: TimelineEntry): entry is StateChange => entry.kind === "subscription";

const historyColumns = (names: ReadonlyMap<string, string>): readonly Column<StateChange>[] => [
  column(
    "Group or address",
    ({ email, subscription_group_id: id }) => email ?? names.get(id ?? "") ?? id,
  ),
  column("State", { width: "8rem" }, ({ subscription_state }) => (
    <StateTag state={subscription_state} />
  )),
  column("Changed by", changedBy),
  column("When", { width: "11rem" }, ({ at }) => <Time at={at} as="clock" />),
];
