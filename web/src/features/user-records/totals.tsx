import { Link } from "@tanstack/react-router";
import { ChartNoAxesColumn } from "lucide-react";
import type { Profile, Total } from "../../api/users.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { numberText } from "../../components/numbers.ts";
import { Card } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { spentBy } from "./summary.tsx";

interface TotalsProps {
  readonly workspace: string;
  readonly profile: Profile;
}

/** How often the user did what, and when for the first and the last time. */
export function Totals({ workspace, profile }: TotalsProps) {
  const { custom_events: events, purchases, platform_id: id } = profile;
  if (events.length + purchases.length === 0) {
    return (
      <div className="table-frame">
        <Empty icon={ChartNoAxesColumn} title="No events or purchases">
          Each event and each product is counted here from its first time on.
        </Empty>
      </div>
    );
  }
  return (
    <div className="stack">
      {events.length > 0 && (
        <Card title="Events" flush>
          <DataTable
            label="Events"
            columns={[
              {
                id: "name",
                header: "Event",
                accessorFn: ({ name }) => name,
                cell: ({ row: { original: event } }) => (
                  <Link
                    to="/w/$workspace/users/$id"
                    params={{ workspace, id }}
                    search={{ event: event.name }}
                    className="row-link clamped"
                    dir="auto"
                  >
                    {event.name}
                  </Link>
                ),
              },
              ...COUNTS,
            ]}
            rows={mostFirst(events)}
            keyOf={({ name }) => name}
            opens
            empty={null}
          />
        </Card>
      )}
      {purchases.length > 0 && (
        <Card title="Purchases" about={`Spent ${spentBy(profile).join(", ")}.`} flush>
          <DataTable
            label="Purchases"
            columns={[
              {
                id: "name",
                header: "Product",
                accessorFn: ({ name }) => name,
                cell: ({ row }) => <bdi>{row.original.name}</bdi>,
              },
              ...COUNTS,
            ]}
            rows={mostFirst(purchases)}
            keyOf={({ name }) => name}
            empty={null}
          />
        </Card>
      )}
    </div>
  );
}

const mostFirst = (totals: readonly Total[]): readonly Total[] =>
  [...totals].sort((one, other) => other.count - one.count);

const timeColumn = (id: "first" | "last", header: string): Column<Total> => ({
  id,
  header,
  accessorFn: (total) => total[id],
  meta: { width: "11rem" },
  cell: ({ row }) => (
    <span className="above">
      <Time at={row.original[id]} as="clock" />
    </span>
  ),
});

const COUNTS: readonly Column<Total>[] = [
  {
    id: "count",
    header: "Times",
    accessorFn: ({ count }) => count,
    meta: { width: "7rem", end: true },
    cell: ({ row }) => numberText(row.original.count),
  },
  timeColumn("first", "First"),
  timeColumn("last", "Last"),
];
