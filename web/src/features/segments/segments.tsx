import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Plus, Users } from "lucide-react";
import { useMemo } from "react";
import type { Schemas } from "../../api/client.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { usersText } from "../../components/figures.tsx";
import { LoadedTable } from "../../components/loaded-table.tsx";
import { Absent, Card, Page } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Sparkline } from "../../components/sparkline.tsx";
import { Empty } from "../../components/states.tsx";
import { Tag } from "../../components/tag.tsx";
import { type Segment, useCounts, useSegmentSizes, useSegments } from "./api.ts";
import { CountProgress } from "./count-progress.tsx";

export function SegmentsPage() {
  const workspace = useWorkspace();
  const { data } = useSegmentSizes();
  const sizes = useMemo(() => new Map(data?.segments.map((each) => [each.id, each])), [data]);
  return (
    <Page
      title="Segments"
      about="Groups of users, each described by a filter."
      actions={
        <Button
          component={Link}
          to={`/w/${workspace}/segments/new` as never}
          leftSection={<Plus size={15} />}
        >
          New segment
        </Button>
      }
    >
      <LoadedTable
        from={useSegments()}
        label="Segments"
        columns={columnsOf(sizes)}
        rows={({ segments: rows }) => rows}
        keyOf={({ id }) => id}
        opens
        empty={
          <Empty icon={Users} title="No segments yet">
            A segment is a filter with a name, such as everyone who bought twice in 30 days. Make
            one here, or declare it in a manifest.
          </Empty>
        }
      />
      <RunningCounts />
    </Page>
  );
}

/** The exact counts that run or wait, if there are any. */
function RunningCounts() {
  const missing = useMissing("edit_segments");
  const { data } = useCounts(missing === undefined);
  const running = (data?.counts ?? []).filter(({ status }) => status === "running").reverse();
  if (running.length === 0) return null;
  return (
    <Card title="Exact counts that run or wait">
      <ul className="plain-list">
        {running.map((count) => (
          <li key={count.count_id}>
            <p>{count.description ?? "Something its filter names no longer exists."}</p>
            <CountProgress count={count} of={count.description ?? count.count_id} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The last recorded number of users, or why there is none. */
function LastSize({ of }: { readonly of: Schemas["SegmentSizes"] | undefined }) {
  if (of?.fault) return <span title={of.fault}>cannot be counted</span>;
  const last = of?.sizes.at(-1)?.size ?? of?.counted?.matching;
  return last === undefined ? <Absent /> : usersText(last);
}

const columnsOf = (
  sizes: ReadonlyMap<string, Schemas["SegmentSizes"]>,
): readonly Column<Segment>[] => [
  column("Name", { sortBy: "name" }, (each) => (
    <>
      <DeclaredName of={each} page="/w/$workspace/segments/$id" id={each.id} />
      {each.description && <div className="dim">{each.description}</div>}
    </>
  )),
  column("Tags", { width: "12rem" }, ({ tags }) =>
    tags?.length ? tags.map((tag) => <Tag key={tag}>{tag}</Tag>) : <Absent />,
  ),
  column(
    "Users",
    {
      sortBy: ({ id }) =>
        sizes.get(id)?.sizes.at(-1)?.size ?? sizes.get(id)?.counted?.matching ?? undefined,
      width: "8rem",
      end: true,
    },
    ({ id }) => <LastSize of={sizes.get(id)} />,
  ),
  column("30 days", { width: "10rem" }, (each) => (
    <Sparkline
      label={`Size of ${each.name} in 30 days`}
      values={sizes.get(each.id)?.sizes.map(({ size }) => size ?? 0) ?? []}
    />
  )),
];
