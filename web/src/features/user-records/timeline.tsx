import { Select, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { History, Undo2 } from "lucide-react";
import { Fragment, useMemo, useState } from "react";
import { useGroupNames } from "../../api/groups.ts";
import {
  type Profile,
  type TimelineEntry,
  type TimelineKind,
  useTimeline,
} from "../../api/users.ts";
import { changedBy } from "../../components/changed-by.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { Json, shortValue } from "../../components/json.tsx";
import { PagedTable } from "../../components/loaded-table.tsx";
import { amountText, numberText } from "../../components/numbers.ts";
import { PermittedButton } from "../../components/permitted.tsx";
import { Empty } from "../../components/states.tsx";
import { sentence, Tag, type Tone } from "../../components/tag.tsx";
import { startOfDay, Time } from "../../components/time.tsx";
import { CHANGE_USERS } from "./change-users.ts";
import type { TabProps } from "./tab.ts";

const route = getRouteApi("/w/$workspace/users/$id");

const TONES: Readonly<Record<TimelineKind, Tone>> = {
  event: "info",
  purchase: "good",
  message: "plain",
  subscription: "plain",
  identity: "plain",
  attributes: "plain",
};

const KINDS = Object.keys(TONES) as TimelineKind[];

/** The user's activity and history, newest first. */
export function Timeline({ profile }: TabProps) {
  const { kind, event, from, until } = route.useSearch();
  const [open, setOpen] = useState<string>();
  const pages = useTimeline(profile.platform_id, {
    kind: kind as TimelineKind | undefined,
    event,
    since: startOfDay(from),
    until: startOfDay(until, 1),
  });
  const groups = useGroupNames();
  const columns = useMemo(() => columnsOf(groups), [groups]);
  const isFiltered = Boolean(kind ?? event ?? from ?? until);
  return (
    <>
      <Filters profile={profile} />
      <PagedTable
        from={pages}
        label="Timeline"
        columns={columns}
        rows={(page) => page.entries}
        keyOf={keyOf}
        openKey={open}
        setOpen={setOpen}
        detail={(entry) => (
          <>
            {isMerge(entry) && <UndoButton id={entry.id} />}
            <Json value={detailsOf(entry)} label="Details" />
          </>
        )}
        empty={
          <Empty icon={History} title={isFiltered ? "Nothing like this" : "Nothing here yet"}>
            {isFiltered
              ? "Another filter may show more."
              : "Events, purchases, messages, and changes of subscriptions, identity and, with the change feed on, attributes appear here."}
          </Empty>
        }
      />
    </>
  );
}

const isMerge = (entry: TimelineEntry): boolean =>
  entry.kind === "identity" && entry.merged_platform_id !== null;

/** Opens the preview of an undo. */
function UndoButton({ id }: { readonly id: string }) {
  const navigate = route.useNavigate();
  return (
    <PermittedButton
      needs={CHANGE_USERS}
      variant="default"
      size="compact-sm"
      leftSection={<Undo2 size={14} />}
      onClick={() => void navigate({ search: (now) => ({ ...now, undo: id }) })}
    >
      Undo the merge…
    </PermittedButton>
  );
}

/** Which entries are shown, as the address says it. */
function Filters({ profile }: { readonly profile: Profile }) {
  const { kind, event, from, until } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (change: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const names = new Set([
    ...profile.custom_events.map(({ name }) => name),
    ...(event ? [event] : []),
  ]);
  return (
    <search className="toolbar">
      <Select
        label="Kind of entry"
        className="filter"
        value={kind ?? ""}
        data={[
          { value: "", label: "Everything" },
          ...KINDS.map((each) => ({ value: each, label: `${sentence(each)} only` })),
        ]}
        onChange={(next) => set({ kind: next ?? "", event: "" })}
      />
      <Select
        allowDeselect
        label="Event"
        className="filter"
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Show every event" }}
        placeholder="Every event"
        nothingFoundMessage="The user has no event of this name."
        disabled={names.size === 0}
        limit={100}
        value={event ?? null}
        data={[...names].sort((one, other) => one.localeCompare(other, "en"))}
        onChange={(next) => set({ event: next ?? "", kind: "" })}
      />
      <TextInput
        type="date"
        label="From"
        className="filter"
        value={from ?? ""}
        onChange={({ currentTarget: { value } }) => set({ from: value })}
      />
      <TextInput
        type="date"
        label="Until the end of"
        className="filter"
        value={until ?? ""}
        onChange={({ currentTarget: { value } }) => set({ until: value })}
      />
    </search>
  );
}

const keyOf = (entry: TimelineEntry): string => `${entry.kind} ${entry.id} ${entry.at}`;

const columnsOf = (groups: ReadonlyMap<string, string>): readonly Column<TimelineEntry>[] => [
  column("What", { width: "38%" }, (entry) => (
    <>
      <Tag tone={TONES[entry.kind]}>{sentence(entry.kind)}</Tag>{" "}
      <span dir="auto">{titleOf(entry, groups)}</span>
    </>
  )),
  column("Properties", { oneLine: true }, (entry) => {
    const parts = partsOf(entry);
    // Nothing at all, so that a phone leaves the column out.
    return parts.length > 0 && <span className="dim">{parts.map(isolated)}</span>;
  }),
  column("When", { width: "11rem" }, ({ at }) => <Time at={at} as="clock" />),
];

function titleOf(entry: TimelineEntry, groups: ReadonlyMap<string, string>): string {
  switch (entry.kind) {
    case "event":
      return entry.name;
    case "purchase":
      return `${entry.product_id} · ${numberText(entry.quantity)} × ${amountText(entry.price, entry.currency)}`;
    case "message":
      return sentence(entry.channel);
    case "subscription":
      return `${sentence(entry.subscription_state)}: ${placeOf(entry, groups)}`;
    case "identity":
      return sentence(entry.action);
    case "attributes":
      return entry.change === "user.created" ? "Created" : entry.changed.join(", ");
  }
}

function partsOf(entry: TimelineEntry): readonly string[] {
  if (entry.kind === "event" || entry.kind === "purchase") return inALine(entry.properties ?? {});
  if (entry.kind === "message") return inALine(entry.details);
  if (entry.kind === "attributes") return inALine(entry.values);
  return [changedBy(entry)];
}

/** Each in its own direction, so that one in Arabic does not reorder the others. */
const isolated = (text: string, index: number) => (
  <Fragment key={text}>
    {index > 0 && ", "}
    <bdi>{text}</bdi>
  </Fragment>
);

/**
 * The first properties in a line; properties of an object follow its name: `product.price: 149.9`.
 */
const inALine = (properties: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(properties)
    .slice(0, 6)
    .flatMap(([name, value]) =>
      isObject(value)
        ? Object.entries(value).map(([part, each]) => `${name}.${part}: ${shortValue(each)}`)
        : [`${name}: ${shortValue(value)}`],
    )
    .slice(0, 8)
    .map((text) => text.slice(0, 200));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const detailsOf = ({ kind: _, ...details }: TimelineEntry): unknown => details;

type SubscriptionEntry = Extract<TimelineEntry, { kind: "subscription" }>;

/** The address, or the group by its name. */
const placeOf = (entry: SubscriptionEntry, groups: ReadonlyMap<string, string>): string => {
  const id = entry.subscription_group_id ?? "";
  return entry.email ?? groups.get(id) ?? id;
};
