import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { fullNameOf } from "../../api/name-of.ts";
import type { Profile } from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Closing } from "../../components/dialog.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { tellFailed } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { explainUser, type FilterJson, readSegmentUsers } from "./api.ts";
import { ExportUsers } from "./export-users.tsx";

interface MembersProps {
  readonly filter: FilterJson;
  readonly fileName: string;
  /** About how many users meet the filter. */
  readonly expected: number | undefined;
}

const SAMPLE = 20;

/** Users who meet a filter, and all of them as a file. */
export function Members({ filter, fileName, expected }: MembersProps) {
  const workspace = useWorkspace();
  const needs = "export_user_data";
  const sample = useMutation({
    mutationFn: () => readSegmentUsers(workspace, filter, SAMPLE),
    onError: tellFailed,
  });
  const [isExporting, setExporting] = useState(false);
  const users = (sample.data?.users ?? []) as unknown as readonly Profile[];
  return (
    <Card
      title="Who they are"
      actions={
        <div className="toolbar">
          <FeatureLink
            to="/w/$workspace/users"
            search={{ filter: JSON.stringify(filter) }}
            className="link"
          >
            List them
          </FeatureLink>
          <PermittedButton
            needs={needs}
            size="xs"
            variant="default"
            loading={sample.isPending}
            onClick={() => sample.mutate()}
          >
            Show twenty
          </PermittedButton>
          <PermittedButton
            needs={needs}
            size="xs"
            variant="default"
            onClick={() => setExporting(true)}
          >
            Export
          </PermittedButton>
        </div>
      }
    >
      {sample.data && users.length === 0 && <p>Nobody meets the filter now.</p>}
      <ul className="plain-list" aria-label="Users who meet the filter">
        {users.map((each) => (
          <li key={each.platform_id}>
            <FeatureLink
              to="/w/$workspace/users/$id"
              params={{ id: each.platform_id }}
              className="link"
            >
              <bdi>{each.external_id ?? each.email ?? each.platform_id}</bdi>
            </FeatureLink>{" "}
            <bdi className="dim">{fullNameOf(each)}</bdi>
          </li>
        ))}
      </ul>
      {isExporting && (
        <Closing value={() => setExporting(false)}>
          <ExportUsers filter={filter} fileName={fileName} expected={expected} />
        </Closing>
      )}
      <Explain filter={filter} />
    </Card>
  );
}

/** Whether a user meets the filter, and why not. */
function Explain({ filter }: Pick<MembersProps, "filter">) {
  const workspace = useWorkspace();
  const [user, setUser] = useState("");
  const asking = useMutation({ mutationFn: () => explainUser(workspace, filter, user.trim()) });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        asking.mutate();
      }}
    >
      <TextInput
        label="Is this user in it?"
        description="An external id, alias, address or platform id."
        value={user}
        onChange={(event) => setUser(event.currentTarget.value)}
      />
      <div>
        <Button type="submit" size="xs" variant="default" disabled={user.trim() === ""}>
          Check
        </Button>
      </div>
      <SaveFailure error={asking.error} />
      {asking.isSuccess && (
        <div role="status">
          {asking.data === undefined ? (
            <p>There is no such user.</p>
          ) : (
            <>
              <p>{asking.data.is_member ? "Yes." : "No."}</p>
              <ul className="plain-list">
                {asking.data.conditions.map(({ condition, holds }) => (
                  <li key={condition}>
                    {holds ? "✓" : "✗"} {condition}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </form>
  );
}
