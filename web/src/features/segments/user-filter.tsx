import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useWorkspace } from "../../api/workspace.ts";
import { Card } from "../../components/page.tsx";
import type { UserFilterProps } from "../../feature.ts";
import { Builder } from "./builder.tsx";
import { filterIn, filterOf, groupOf, isOpen } from "./filter-model.ts";

/** The builder of segments, for a list of users. */
export function UserFilter({ filter, change }: UserFilterProps) {
  const workspace = useWorkspace();
  const [group, setGroup] = useState(() => groupOf(filterIn(filter)));
  const wanted = JSON.stringify(filterOf(group));
  return (
    <Card title="Filter">
      <Builder group={group} change={setGroup} />
      <div className="toolbar">
        <Button size="xs" disabled={isOpen(group)} onClick={() => change(wanted ?? "")}>
          Apply the filter
        </Button>
        {wanted && (
          <Link
            to="/w/$workspace/segments/$id"
            params={{ workspace, id: "new" }}
            search={{ filter: wanted }}
            className="link"
          >
            Save it as a segment
          </Link>
        )}
      </div>
    </Card>
  );
}
