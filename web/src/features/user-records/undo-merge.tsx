import { Button, Group, Stack } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useUndoMerge } from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Dialog, useClose } from "../../components/dialog.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { Notice } from "../../components/states.tsx";
import { Effects } from "./effects.tsx";

interface UndoMergeProps {
  /** The merge. */
  readonly id: string;
}

/** Previews the undo of a merge field by field, then undoes it. */
export function UndoMerge({ id }: UndoMergeProps) {
  const close = useClose();
  const workspace = useWorkspace();
  const undo = useUndoMerge();
  const navigate = useNavigate();
  const { send, data, error, isPending } = undo;
  // biome-ignore lint/correctness/useExhaustiveDependencies: one preview for each merge.
  useEffect(() => {
    void send(workspace, id, true).catch(() => undefined);
  }, [workspace, id]);
  const confirm = async () => {
    const { merged } = await send(workspace, id, false);
    tellDone(`${merged.external_id ?? merged.platform_id} is back.`);
    close();
    await navigate({
      to: "/w/$workspace/users/$id",
      params: { workspace, id: merged.platform_id },
    });
  };
  return (
    <Dialog title="Undo the merge" size="xl">
      <Stack>
        <SaveFailure error={error} />
        {data && (
          <>
            <Notice tone="info">
              {data.merged.external_id ?? data.merged.platform_id} comes back as they were.{" "}
              {data.kept.external_id ?? data.kept.platform_id} loses what came from them, and keeps
              what happened since.
            </Notice>
            <Effects
              label="Effects of the undo"
              of={data.effects}
              values={[
                ["merged", "Returning user"],
                ["kept", "Kept user now"],
                ["result", "Kept user after"],
              ]}
              none="The returning user has no data."
            />
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            loading={isPending}
            disabled={!data}
            onClick={() => void confirm().catch(() => undefined)}
          >
            Undo
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
