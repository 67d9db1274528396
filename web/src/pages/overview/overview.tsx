import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense } from "react";
import { Page } from "../../components/page.tsx";
import { PageTabs } from "../../components/page-tabs.tsx";
import { Loading } from "../../components/states.tsx";
import type { Feature } from "../../feature.ts";
import * as features from "../../features.ts";
import { FirstSteps } from "./first-steps.tsx";

const route = getRouteApi("/w/$workspace/overview");

const all: readonly Feature[] = Object.values(features);

/** What the features show of a workspace, in tabs. */
const TABS = all
  .flatMap((each) => each.overview ?? [])
  .sort((one, other) => one.place - other.place);

export function OverviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const shown = TABS.find(({ name }) => name === search.tab) ?? TABS[0];
  if (!shown) return null;
  const { name, about, periods, component: Tab } = shown;
  const chosen = periods.find(({ value }) => value === search.period);
  const period = chosen?.value ?? shown.period;
  return (
    <Page
      title="Overview"
      about={about}
      actions={
        <SegmentedControl
          aria-label="Period"
          value={period}
          data={[...periods]}
          onChange={(next) => void navigate({ search: { tab: name, period: next }, replace: true })}
        />
      }
    >
      <FirstSteps />
      <PageTabs
        tabs={TABS.map((tab) => [tab.name, tab.label])}
        shown={name}
        show={(tab) => void navigate({ search: { tab }, replace: true })}
      >
        <Suspense fallback={<Loading lines={8} />}>
          <Tab period={period} />
        </Suspense>
      </PageTabs>
    </Page>
  );
}
