import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { BookOpen } from "lucide-react";
import { useMemo } from "react";
import { Chart } from "../../components/chart.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { Figures, sizeText, usersText } from "../../components/figures.tsx";
import { shortValue } from "../../components/json.tsx";
import { LoadedTable } from "../../components/loaded-table.tsx";
import { numberText, total } from "../../components/numbers.ts";
import { Card, Page } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import {
  type EventByDay,
  type Occurrence,
  useEventByDay,
  useEventProperties,
  useOccurrences,
} from "./api.ts";
import { Change } from "./numbers.tsx";
import { daysOf, PERIODS } from "./periods.ts";

const route = getRouteApi("/w/$workspace/catalogue/event");

interface EventProps {
  readonly name: string;
}

/** An event: how often it is sent, who did it last, and with which properties. */
export function EventPage() {
  const { name = "", period } = route.useSearch();
  const navigate = route.useNavigate();
  const days = daysOf(period);
  const hidden = {
    occurrences: useMissing(["view_user_profile", "view_pii"]),
    properties: useMissing(["view_pii", "edit_segments"]),
  };
  return (
    <Page
      title={name}
      windowTitle={`${name}, event`}
      about={
        <FeatureLink to="/w/$workspace/catalogue" className="link">
          Catalogue
        </FeatureLink>
      }
      actions={
        <>
          <SegmentedControl
            aria-label="Period"
            value={days}
            data={[...PERIODS]}
            onChange={(next) => void navigate({ search: { name, period: next }, replace: true })}
          />
          <FeatureLink
            to="/w/$workspace/segments/$id"
            params={{ id: "new" }}
            search={{ event: name }}
            className="link"
          >
            New segment
          </FeatureLink>
        </>
      }
    >
      <div className="stack">
        <Loaded from={useEventByDay(name, days)}>{(data) => <OverTime data={data} />}</Loaded>
        {hidden.occurrences ?? <Occurrences name={name} />}
        {hidden.properties ?? <Properties name={name} />}
      </div>
    </Page>
  );
}

function OverTime({ data }: { readonly data: EventByDay }) {
  const { days, events, time_zone, complete } = data;
  const times = useMemo(() => days.map((day) => Date.parse(day) / 1_000), [days]);
  const sent = total(events.days);
  return (
    <Card>
      <p>
        <strong>{numberText(sent)}</strong> times in {days.length} days{" "}
        <Change value={sent} before={events.before} />
      </p>
      <Chart
        label="Sent"
        summary={`per day, from midnight in ${time_zone}`}
        times={times}
        lines={[{ name: "Times", values: events.days, color: "info", whole: numberText(sent) }]}
        isDaily
        isCount
      />
      {!complete && <p className="dim">What was received earlier is still being counted.</p>}
    </Card>
  );
}

function Occurrences({ name }: EventProps) {
  const occurrences = useOccurrences(name);
  return (
    <Card
      title="Latest occurrences"
      about="The newest is at most ten seconds old. Of events that are sent more than once a second, some are left out."
      flush
    >
      <LoadedTable
        from={occurrences}
        label="Latest occurrences"
        columns={COLUMNS}
        rows={({ occurrences: rows }) => rows}
        keyOf={(each) => `${each.platform_id} ${each.time} ${JSON.stringify(each.properties)}`}
        opens
        empty={
          <Empty icon={BookOpen} title="None yet">
            Occurrences appear here once the event is sent again.
          </Empty>
        }
      />
    </Card>
  );
}

const nameOf = ({ first_name, last_name, external_id, email, platform_id }: Occurrence): string =>
  [first_name, last_name].filter(Boolean).join(" ") || (external_id ?? email ?? platform_id);

const COLUMNS: readonly Column<Occurrence>[] = [
  column("User", (original) => (
    <FeatureLink
      to="/w/$workspace/users/$id"
      params={{ id: original.platform_id }}
      className="row-link"
    >
      <bdi>{nameOf(original)}</bdi>
    </FeatureLink>
  )),
  column("When", { width: "10rem" }, ({ time }) => <Time at={time} />),
  column("Properties", ({ properties }) => <bdi>{propertiesText(properties)}</bdi>),
];

const MOST_CHARACTERS = 300;

const propertiesText = (properties: unknown): string =>
  Object.entries(properties ?? {})
    .map(([name, value]) => `${name}: ${shortValue(value)}`)
    .join(", ")
    .slice(0, MOST_CHARACTERS) || "–";

function Properties({ name }: EventProps) {
  const properties = useEventProperties(name);
  return (
    <Loaded from={properties}>
      {({ total: all, looked_at, users, occurrences, properties: found }) => (
        <Card
          title="Properties"
          about={`Of ${usersText(occurrences)} occurrences, the last of each user, read just now${
            looked_at === all ? "" : ` from ${usersText(looked_at)} users drawn by chance`
          }.`}
        >
          <p>
            <strong>{sizeText(users)}</strong> of {usersText(all)} users did it at least once.
          </p>
          {found.length > 0 && (
            <Figures
              label="Properties"
              head={["Name", "Types", "Top values"]}
              rows={found.map((each) => [
                <bdi key="name">{each.name}</bdi>,
                each.types.map(({ type, seen }) => `${type} ${usersText(seen)}`).join(", "),
                <bdi key="values">
                  {each.values
                    .map(({ value, seen }) => `${String(value)} (${usersText(seen)})`)
                    .join(", ")}
                </bdi>,
              ])}
            />
          )}
        </Card>
      )}
    </Loaded>
  );
}
