import { Select } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { History } from "lucide-react";
import { useMemo, useState } from "react";
import { useGroupNames } from "../../api/groups.ts";
import { morePages } from "../../api/pages.ts";
import { type TimelineEntry, type TimelineKind, useTimeline } from "../../api/users.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Json, shortValue } from "../../components/json.tsx";
import { RowButton } from "../../components/row-button.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { sentence, Tag, type Tone } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

interface TimelineProps {
  readonly workspace: string;
  readonly id: string;
  readonly kind: string | undefined;
}

const TONES: Readonly<Record<TimelineKind, Tone>> = {
  event: "info",
  purchase: "good",
  message: "plain",
  subscription: "plain",
  identity: "plain",
};

const KINDS = Object.keys(TONES) as TimelineKind[];

/** What the user did and what happened to the user, newest first. */
export function Timeline({ workspace, id, kind }: TimelineProps) {
  const [open, setOpen] = useState<string>();
  const navigate = useNavigate({ from: "/w/$workspace/users/$id" });
  const pages = useTimeline(workspace, id, kind as TimelineKind | undefined);
  const entries = useMemo(
    () => pages.data?.pages.flatMap((page) => page.entries) ?? [],
    [pages.data],
  );
  const groups = useGroupNames(workspace);
  const columns = useMemo(() => columnsOf(open, setOpen, groups), [open, groups]);
  return (
    <>
      <div className="toolbar">
        <Select
          aria-label="Kind of entry"
          w="12rem"
          value={kind ?? ""}
          allowDeselect={false}
          data={[
            { value: "", label: "Everything" },
            ...KINDS.map((each) => ({ value: each, label: `${sentence(each)} only` })),
          ]}
          onChange={(next) =>
            void navigate({ search: (now) => ({ ...now, kind: next ?? "" }), replace: true })
          }
        />
      </div>
      <Loaded from={pages}>
        {() => (
          <DataTable
            label="Timeline"
            columns={columns}
            rows={entries}
            keyOf={keyOf}
            more={morePages(pages)}
            openKey={open}
            detail={(entry) => <Json value={detailsOf(entry)} label="Details" />}
            empty={
              <Empty icon={History} title="Nothing here yet">
                Events, purchases, messages, and changes of subscriptions and identity appear here.
              </Empty>
            }
          />
        )}
      </Loaded>
    </>
  );
}

const keyOf = (entry: TimelineEntry): string => `${entry.kind} ${entry.id} ${entry.at}`;

const columnsOf = (
  open: string | undefined,
  setOpen: (key: string | undefined) => void,
  groups: ReadonlyMap<string, string>,
): readonly Column<TimelineEntry>[] => [
  {
    id: "what",
    header: "What",
    meta: { width: "38%" },
    cell: ({ row: { original: entry } }) => {
      const key = keyOf(entry);
      return (
        <RowButton isOpen={key === open} onClick={() => setOpen(key === open ? undefined : key)}>
          <Tag tone={TONES[entry.kind]}>{sentence(entry.kind)}</Tag>{" "}
          <span dir="auto">{titleOf(entry, groups)}</span>
        </RowButton>
      );
    },
  },
  {
    id: "properties",
    header: "Properties",
    meta: { oneLine: true },
    cell: ({ row }) => <span className="dim">{summaryOf(row.original)}</span>,
  },
  {
    id: "at",
    header: "When",
    meta: { width: "11rem" },
    cell: ({ row }) => (
      <span className="above">
        <Time at={row.original.at} as="clock" />
      </span>
    ),
  },
];

function titleOf(entry: TimelineEntry, groups: ReadonlyMap<string, string>): string {
  switch (entry.kind) {
    case "event":
      return entry.name;
    case "purchase":
      return `${entry.product_id} · ${entry.quantity} × ${entry.price} ${entry.currency}`;
    case "message":
      return sentence(entry.channel);
    case "subscription":
      return `${sentence(entry.subscription_state)}: ${placeOf(entry, groups)}`;
    case "identity":
      return sentence(entry.action);
  }
}

function summaryOf(entry: TimelineEntry): string {
  if (entry.kind === "event" || entry.kind === "purchase") return inALine(entry.properties ?? {});
  if (entry.kind === "message") return inALine(entry.details);
  return `${entry.call}${entry.key_name ? ` with the key ${entry.key_name}` : ""}`;
}

/** The first properties in a line; those of an object under its name: `product.price: 149.9`. */
const inALine = (properties: Readonly<Record<string, unknown>>): string =>
  Object.entries(properties)
    .slice(0, 6)
    .flatMap(([name, value]) =>
      isObject(value)
        ? Object.entries(value).map(([part, each]) => `${name}.${part}: ${shortValue(each)}`)
        : [`${name}: ${shortValue(value)}`],
    )
    .join(", ")
    .slice(0, 300);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const detailsOf = ({ kind: _, ...details }: TimelineEntry): unknown => details;

type SubscriptionEntry = Extract<TimelineEntry, { kind: "subscription" }>;

/** The address, or the group by its name. */
const placeOf = (entry: SubscriptionEntry, groups: ReadonlyMap<string, string>): string => {
  const id = entry.subscription_group_id ?? "";
  return entry.email ?? groups.get(id) ?? id;
};
