import { Link } from "@tanstack/react-router";
import { BookOpen, Mail } from "lucide-react";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { numberText } from "../../components/numbers.ts";
import { Card } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import type { Customers } from "./api.ts";
import { Change, total } from "./numbers.tsx";

interface ListsProps {
  readonly data: Customers;
  readonly workspace: string;
}

type TopRow = Customers["top_events"][number];

/** The most frequent events and products; each leads to what the catalogue has about it. */
export const Top = ({ data, workspace }: ListsProps) => (
  <div className="charts">
    <Card title="Top events" flush>
      <DataTable
        label="Top events"
        columns={topColumns(workspace, "event", "Event")}
        rows={data.top_events}
        keyOf={({ name }) => name}
        opens
        empty={<Empty icon={BookOpen} title="No events in this time" />}
      />
    </Card>
    <Card title="Top products" flush>
      <DataTable
        label="Top products"
        columns={topColumns(workspace, "product", "Product")}
        rows={data.top_products}
        keyOf={({ name }) => name}
        opens
        empty={<Empty icon={BookOpen} title="No purchases in this time" />}
      />
    </Card>
  </div>
);

const topColumns = (
  workspace: string,
  kind: "event" | "product",
  header: string,
): Column<TopRow>[] => [
  {
    id: "name",
    header,
    accessorFn: ({ name }) => name,
    cell: ({ row: { original } }) => (
      <Link
        to="/w/$workspace/catalogue"
        params={{ workspace }}
        search={{ kind, search: original.name }}
        className="row-link"
      >
        <bdi>{original.name}</bdi>
      </Link>
    ),
  },
  {
    id: "count",
    header: kind === "event" ? "Times" : "Bought",
    accessorFn: ({ count }) => count,
    cell: ({ row: { original } }) => numberText(original.count),
    meta: { end: true, width: "7rem" },
  },
  {
    id: "change",
    header: "Change",
    accessorFn: ({ count, before }) => (before > 0 ? count / before : Number.POSITIVE_INFINITY),
    cell: ({ row: { original } }) => <Change value={original.count} before={original.before} />,
    meta: { end: true, width: "7rem" },
  },
];

interface ChannelRow {
  readonly key: string;
  readonly name: string;
  readonly channel: string;
  readonly subscribed: number;
  readonly changes: Pick<Customers["email"], "opt_ins" | "opt_outs">;
}

const CHANNELS: Readonly<Record<string, string>> = {
  email: "Email",
  sms: "SMS",
  whatsapp: "WhatsApp",
};

/** Who can be reached, by channel and by group, with the changes of the period. */
export function Subscribers({ data, workspace }: ListsProps) {
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
    <Card title="Subscribers" about="Users who can be reached now, and changes in this time." flush>
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
  {
    id: "name",
    header: "Group",
    accessorFn: ({ name }) => name,
    cell: ({ row: { original } }) => (
      <Link to="/w/$workspace/groups" params={{ workspace }} className="row-link">
        <bdi>{original.name}</bdi>
      </Link>
    ),
  },
  {
    id: "channel",
    header: "Channel",
    accessorFn: ({ channel }) => CHANNELS[channel] ?? channel,
    cell: ({ row: { original } }) => CHANNELS[original.channel] ?? original.channel,
    meta: { width: "8rem" },
  },
  {
    id: "subscribed",
    header: "Subscribed",
    accessorFn: ({ subscribed }) => subscribed,
    cell: ({ row: { original } }) => numberText(original.subscribed),
    meta: { end: true, width: "8rem" },
  },
  ...(["opt_ins", "opt_outs"] as const).map(
    (which): Column<ChannelRow> => ({
      id: which,
      header: which === "opt_ins" ? "Opt-ins" : "Opt-outs",
      accessorFn: ({ changes }) => total(changes[which].days),
      cell: ({ row: { original } }) => {
        const value = total(original.changes[which].days);
        return (
          <>
            {numberText(value)} <Change value={value} before={original.changes[which].before} />
          </>
        );
      },
      meta: { end: true, width: "9rem" },
    }),
  ),
];
