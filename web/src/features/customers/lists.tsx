import { Link } from "@tanstack/react-router";
import { BookOpen, Mail } from "lucide-react";
import { useWorkspace } from "../../api/workspace.ts";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { numberText, total } from "../../components/numbers.ts";
import { Card } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { channelName } from "../../components/tag.tsx";
import type { Customers } from "./api.ts";
import { Change } from "./numbers.tsx";

interface ListsProps {
  readonly data: Customers;
}

type TopRow = Customers["top_events"][number];

/** The most frequent events and products, and the events that grew most; each leads to its page. */
export const Top = (props: ListsProps) => (
  <div className="charts">
    <TopTable {...props} title="Top events" of="top_events" />
    <TopTable {...props} title="Events that grew most" of="growing_events" />
    <TopTable {...props} title="Top products" of="top_products" />
  </div>
);

interface TopTableProps extends ListsProps {
  readonly title: string;
  readonly of: "top_events" | "growing_events" | "top_products";
}

const TopTable = ({ data, title, of }: TopTableProps) => (
  <Card title={title} flush>
    <DataTable
      label={title}
      columns={topColumns(of === "top_products", String(data.days.length))}
      rows={data[of]}
      keyOf={({ name }) => name}
      opens
      empty={<Empty icon={BookOpen} title="Nothing in this time" />}
    />
  </Card>
);

const topColumns = (isProduct: boolean, period: string): Column<TopRow>[] => [
  column(isProduct ? "Product" : "Event", { sortBy: "name" }, (original) => (
    <FeatureLink
      {...(isProduct
        ? { to: "/w/$workspace/catalogue", search: { kind: "product", search: original.name } }
        : { to: "/w/$workspace/catalogue/event", search: { name: original.name, period } })}
      className="row-link"
    >
      <bdi>{original.name}</bdi>
    </FeatureLink>
  )),
  column(
    isProduct ? "Bought" : "Times",
    { sortBy: "count", end: true, width: "7rem" },
    (original) => numberText(original.count),
  ),
  column(
    "Change",
    {
      sortBy: ({ count, before }) => (before > 0 ? count / before : Number.POSITIVE_INFINITY),
      end: true,
      width: "7rem",
    },
    (original) => <Change value={original.count} before={original.before} />,
  ),
];

interface ChannelRow {
  readonly key: string;
  readonly name: string;
  readonly channel: string;
  readonly subscribed: number;
  readonly changes: Pick<Customers["email"], "opt_ins" | "opt_outs">;
}

/** As many as the server gives. */
const MOST_GROUPS = 100;

/** Who can be reached, by channel and by group, with the changes of the period. */
export function Subscribers({ data }: ListsProps) {
  const workspace = useWorkspace();
  const { email, groups } = data;
  const rows: ChannelRow[] = [
    {
      key: "email",
      name: "Email as such",
      channel: "email",
      subscribed: Math.max(0, email.users - email.unsubscribed),
      changes: email,
    },
    ...groups.map(({ id, ...group }) => ({ key: id, changes: group, ...group })),
  ];
  return (
    <Card
      title="Subscribers"
      about={`Users who can be reached now, and changes in this time.${groups.length < MOST_GROUPS ? "" : ` Of the groups, the ${MOST_GROUPS} with the most subscribers.`}`}
      flush
    >
      <DataTable
        label="Subscribers"
        columns={channelColumns(workspace)}
        rows={rows}
        keyOf={({ key }) => key}
        opens
        empty={<Empty icon={Mail} title="There are no groups" />}
      />
    </Card>
  );
}

const channelColumns = (workspace: string): Column<ChannelRow>[] => [
  column("Group", { sortBy: "name" }, (original) => (
    <Link to="/w/$workspace/groups" params={{ workspace }} className="row-link">
      <bdi>{original.name}</bdi>
    </Link>
  )),
  column("Channel", { sortBy: ({ channel }) => channelName(channel), width: "8rem" }, (original) =>
    channelName(original.channel),
  ),
  column("Subscribed", { sortBy: "subscribed", end: true, width: "8rem" }, (original) =>
    numberText(original.subscribed),
  ),
  ...(["opt_ins", "opt_outs"] as const).map(
    (which): Column<ChannelRow> =>
      column(
        which === "opt_ins" ? "Opt-ins" : "Opt-outs",
        { sortBy: ({ changes }) => total(changes[which].days), end: true, width: "9rem" },
        (original) => {
          const value = total(original.changes[which].days);
          return (
            <>
              {numberText(value)} <Change value={value} before={original.changes[which].before} />
            </>
          );
        },
      ),
  ),
];
