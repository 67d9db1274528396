import { Activity } from "lucide-react";
import { useUserCount } from "../../api/users.ts";
import { firstRequest, KeysLink } from "../../components/first-request.tsx";
import { countText, total } from "../../components/numbers.ts";
import { Empty, Loaded } from "../../components/states.tsx";
import type { OverviewTabProps } from "../../feature.ts";
import type { Overview } from "./api.ts";
import { useOverview } from "./api.ts";
import { Attention } from "./attention.tsx";
import { lastOf, Traffic } from "./charts.tsx";

/** The traffic of a workspace, and what needs attention. */
export function ServerTab({ period: chosen }: OverviewTabProps) {
  const period = chosen === "day" ? "day" : "hour";
  const users = useUserCount();
  return (
    <Loaded from={useOverview(period)}>
      {(data) => (
        <div className="stack">
          <Attention findings={data.attention} />
          <Tiles data={data} users={users} />
          {total(data.requests) === 0 && total(data.syncs?.rows_synced ?? []) === 0 ? (
            <Empty
              icon={Activity}
              title="No requests in this time"
              command={firstRequest(location.origin)}
            >
              Rates and latencies appear here within ten seconds. Send a request with an{" "}
              <KeysLink />:
            </Empty>
          ) : (
            <Traffic data={data} period={period} />
          )}
        </div>
      )}
    </Loaded>
  );
}

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
    ["Requests", countText(total(data.requests))],
    ["Refused or failed", countText(total(data.refused) + total(data.failed))],
    ["Items accepted", countText(accepted)],
    [
      "Items rejected",
      `${countText(rejected)} (${share.toFixed(share > 0 && share < 10 ? 1 : 0)} %)`,
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
