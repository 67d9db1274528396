import { Link } from "@tanstack/react-router";
import { ChartNoAxesColumn } from "lucide-react";
import type { Total } from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { numberText } from "../../components/numbers.ts";
import { Card } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { spentBy } from "./summary.tsx";
import type { TabProps } from "./tab.ts";

/** How often the user did what, and when for the first and the last time. */
export function Totals({ profile }: TabProps) {
  const workspace = useWorkspace();
  const { custom_events: events, purchases, platform_id: id } = profile;
  if (events.length + purchases.length === 0) {
    return (
      <Empty isFramed icon={ChartNoAxesColumn} title="No events or purchases">
        Each event and each product is counted here from its first time on.
      </Empty>
    );
  }
  return (
    <div className="stack">
      {events.length > 0 && (
        <Card title="Events" flush>
          <DataTable
            label="Events"
            columns={eventColumns(workspace, id)}
            rows={mostFirst(events)}
            keyOf={({ name }) => name}
            opens
          />
        </Card>
      )}
      {purchases.length > 0 && (
        <Card title="Purchases" about={`Spent ${spentBy(profile).join(", ")}.`} flush>
          <DataTable
            label="Purchases"
            columns={PRODUCT_COLUMNS}
            rows={mostFirst(purchases)}
            keyOf={({ name }) => name}
          />
        </Card>
      )}
    </div>
  );
}

const mostFirst = (totals: readonly Total[]): readonly Total[] =>
  [...totals].sort((one, other) => other.count - one.count);

const COUNTS: readonly Column<Total>[] = [
  column("Times", { sortBy: "count", width: "7rem", end: true }, ({ count }) => numberText(count)),
  column("First", { sortBy: "first", width: "11rem" }, ({ first }) => (
    <Time at={first} as="clock" />
  )),
  column("Last", { sortBy: "last", width: "11rem" }, ({ last }) => <Time at={last} as="clock" />),
];

const eventColumns = (workspace: string, id: string): readonly Column<Total>[] => [
  column("Event", { sortBy: "name" }, (event) => (
    <Link
      to="/w/$workspace/users/$id"
      params={{ workspace, id }}
      search={{ event: event.name }}
      className="row-link clamped"
      dir="auto"
    >
      {event.name}
    </Link>
  )),
  ...COUNTS,
];

const PRODUCT_COLUMNS: readonly Column<Total>[] = [
  column("Product", { sortBy: "name" }, ({ name }) => <bdi>{name}</bdi>),
  ...COUNTS,
];
