import { Users } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { useSegmentsOfUser } from "../../api/users.ts";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import type { TabProps } from "./tab.ts";

/** The segments that a user is in now. */
export function SegmentsOfUser({ id }: TabProps) {
  return (
    <Loaded from={useSegmentsOfUser(id)}>
      {({ segments, skipped }) => (
        <>
          <DataTable
            label="Segments of the user"
            columns={COLUMNS}
            rows={segments}
            keyOf={(each) => each.id}
            opens
            empty={
              <Empty icon={Users} title="In no segment">
                The user meets the filter of no segment of this workspace.
              </Empty>
            }
          />
          {skipped.length > 0 && (
            <Notice tone="warn" title="Not known for some segments">
              <ul className="plain-list">
                {skipped.map(({ id: segment, name, reason }) => (
                  <li key={segment}>
                    <bdi>{name}</bdi>: {reason}
                  </li>
                ))}
              </ul>
            </Notice>
          )}
        </>
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<Schemas["SegmentOfUser"]>[] = [
  column("Segment", (each) => (
    <FeatureLink to="/w/$workspace/segments/$id" params={{ id: each.id }} className="row-link">
      <bdi>{each.name}</bdi>
    </FeatureLink>
  )),
  column("Why", { width: "60%" }, ({ description }) => description),
];
