import { Alert } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Users } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { useWorkspace } from "../../api/workspace.ts";
import { Charts, type Line } from "../../components/chart.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { firstRequest, KeysLink } from "../../components/first-request.tsx";
import { amountText, numberText, total } from "../../components/numbers.ts";
import { Empty, Loaded } from "../../components/states.tsx";
import type { OverviewTabProps } from "../../feature.ts";
import { type Customers, useCustomers } from "./api.ts";
import { Subscribers, Top } from "./lists.tsx";
import { Change } from "./numbers.tsx";
import { daysOf } from "./periods.ts";

/** What the users of a workspace did in the last days, compared with as many days before. */
export function CustomersTab({ period }: OverviewTabProps) {
  return (
    <Loaded from={useCustomers(daysOf(period))}>
      {(data) => (
        <div className="stack">
          {!data.complete && data.users.total > 0 && (
            <Alert color="blue" role="status" title="Earlier data is being counted">
              What was received before is counted in the background. The numbers grow until then.
            </Alert>
          )}
          <Tiles data={data} />
          {data.users.total === 0 ? (
            <Empty
              icon={Users}
              title="There are no users yet"
              command={firstRequest(location.origin)}
            >
              Users appear here within ten seconds. Send a request with an <KeysLink />:
            </Empty>
          ) : (
            <>
              <OverTime data={data} />
              <Top data={data} />
              <Subscribers data={data} />
            </>
          )}
          <p className="dim">
            Days begin at midnight in {data.time_zone}. Active users are users with an event or a
            purchase, estimated within 2 %.
          </p>
        </div>
      )}
    </Loaded>
  );
}

function Tiles({ data }: { readonly data: Customers }) {
  const workspace = useWorkspace();
  const { monthly } = data.active_users;
  const [money] = data.revenue;
  const optOuts = optOutsOf(data);
  const created = total(data.users.new.days);
  return (
    <dl className="tiles">
      <Tile name="Users" value={data.users.total} before={data.users.total - created}>
        <FeatureLink to="/w/$workspace/users">{numberText(data.users.total)}</FeatureLink>
      </Tile>
      <Tile name="New users" value={created} before={data.users.new.before} />
      <Tile
        name="Active in the last 30 days"
        value={monthly.days.at(-1) ?? 0}
        before={monthly.before.at(-1) ?? 0}
      />
      <Tile name="Events" value={total(data.events.days)} before={data.events.before}>
        <FeatureLink to="/w/$workspace/catalogue">
          {numberText(total(data.events.days))}
        </FeatureLink>
      </Tile>
      <Tile
        name={money ? `Revenue in ${money.currency}` : "Revenue"}
        value={total(money?.days.map(Number) ?? [])}
        before={Number(money?.before ?? 0)}
      >
        {money ? amountText(total(money.days.map(Number)), money.currency) : "–"}
      </Tile>
      <Tile name="Unsubscribed" value={total(optOuts.days)} before={optOuts.before}>
        <Link to="/w/$workspace/groups" params={{ workspace }}>
          {numberText(total(optOuts.days))}
        </Link>
      </Tile>
    </dl>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: number;
  readonly before: number;
  readonly children?: ReactNode;
}

const Tile = ({ name, value, before, children }: TileProps) => (
  <div className="card tile">
    <dt>{name}</dt>
    <dd>{children ?? numberText(value)}</dd>
    <dd className="tile-change">
      <Change value={value} before={before} />
    </dd>
  </div>
);

/** The sums of the addresses and of all groups. */
const optOutsOf = (data: Customers) => changesOf(data, "opt_outs");

function changesOf({ email, groups, days }: Customers, which: "opt_ins" | "opt_outs") {
  const all = [email, ...groups].map((each) => each[which]);
  return {
    days: days.map((_, index) => total(all.map((each) => each.days[index] ?? 0))),
    before: total(all.map(({ before }) => before)),
  };
}

const COLORS = ["info", "good", "warn", "plain"] as const;

function OverTime({ data }: { readonly data: Customers }) {
  const times = useMemo(() => data.days.map((day) => Date.parse(day) / 1_000), [data]);
  const charts = useMemo(() => chartsOf(data), [data]);
  return <Charts of={charts} times={times} isDaily />;
}

function chartsOf(data: Customers) {
  const { daily, weekly, monthly } = data.active_users;
  const latest = (name: string, values: readonly number[], color: Line["color"]): Line => {
    return { name, values, color, whole: numberText(values.at(-1) ?? 0) };
  };
  const counts = (name: string, values: readonly number[], color: Line["color"]): Line => {
    return { name, values, color, whole: numberText(total(values)) };
  };
  return [
    {
      label: "Active users",
      summary: "on the day, and in the 7 and 30 days that end with it",
      lines: [
        latest("Day", daily.days, "info"),
        latest("7 days", weekly.days, "good"),
        latest("30 days", monthly.days, "plain"),
      ],
    },
    {
      label: "New users",
      summary: "per day",
      isCount: true,
      lines: [counts("New", data.users.new.days, "info")],
    },
    {
      label: "Events",
      summary: "per day",
      isCount: true,
      lines: [counts("Events", data.events.days, "info")],
    },
    {
      label: "Revenue",
      summary: data.revenue.length > COLORS.length ? "per day; four of the currencies" : "per day",
      lines: data.revenue.slice(0, COLORS.length).map(({ currency, days }, index) => {
        const values = days.map(Number);
        const whole = amountText(total(values), currency);
        return { name: currency, values, color: COLORS[index] ?? "plain", whole };
      }),
    },
    {
      label: "Subscriptions",
      summary: "changes per day, of all groups and of email as such",
      isCount: true,
      lines: [
        counts("Opt-ins", changesOf(data, "opt_ins").days, "good"),
        counts("Opt-outs", changesOf(data, "opt_outs").days, "bad"),
      ],
    },
  ];
}
