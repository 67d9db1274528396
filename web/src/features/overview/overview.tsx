import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Activity } from "lucide-react";
import { useUserCount } from "../../api/users.ts";
import { firstRequest, KeysLink } from "../../components/first-request.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import type { Overview, Period } from "./api.ts";
import { useOverview } from "./api.ts";
import { Attention } from "./attention.tsx";
import { Charts } from "./charts.tsx";
import { lastOf, total } from "./numbers.ts";

const route = getRouteApi("/w/$workspace/overview");

export function OverviewPage() {
  const { workspace } = route.useParams();
  const { period: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const period: Period = chosen === "day" ? "day" : "hour";
  const overview = useOverview(workspace, period);
  const users = useUserCount(workspace);
  return (
    <Page
      title="Overview"
      about="Incoming requests, how fast they are answered, and what needs attention."
      actions={
        <SegmentedControl
          aria-label="Period"
          value={period}
          data={[
            { value: "hour", label: "Last hour" },
            { value: "day", label: "Last day" },
          ]}
          onChange={(next) => void navigate({ search: { period: next }, replace: true })}
        />
      }
    >
      <Loaded from={overview}>
        {(data) => (
          <div className="stack">
            <Attention findings={data.attention} workspace={workspace} />
            <Tiles data={data} users={users} />
            {total(data.requests) === 0 && total(data.syncs?.rows_synced ?? []) === 0 ? (
              <Empty
                icon={Activity}
                title="No requests in this time"
                command={firstRequest(location.origin)}
              >
                Rates and latencies appear here within ten seconds. Send a request with an{" "}
                <KeysLink workspace={workspace} />:
              </Empty>
            ) : (
              <Charts data={data} period={period} />
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const NUMBER = new Intl.NumberFormat("en");

interface TilesProps {
  readonly data: Overview;
  /** How many there are. */
  readonly users: string | undefined;
}

function Tiles({ data, users }: TilesProps) {
  const [accepted, rejected] = [total(data.items_accepted), total(data.items_rejected)];
  const share = accepted + rejected === 0 ? 0 : (100 * rejected) / (accepted + rejected);
  const tiles = [
    ["Users", users ?? "–"],
    ["Requests", NUMBER.format(total(data.requests))],
    ["Refused or failed", NUMBER.format(total(data.refused) + total(data.failed))],
    ["Items accepted", NUMBER.format(accepted)],
    [
      "Items rejected",
      `${NUMBER.format(rejected)} (${share.toFixed(share > 0 && share < 10 ? 1 : 0)} %)`,
    ],
    ["Response time, p99", lastOf(data.p99_ms) === null ? "–" : `${lastOf(data.p99_ms)} ms`],
  ] as const;
  return (
    <dl className="tiles">
      {tiles.map(([name, value]) => (
        <div key={name} className="card tile">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
