import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { fullNameOf, nameOf } from "../../api/name-of.ts";
import {
  type FoundUser,
  mergeOf,
  type Profile,
  useMergeUser,
  useUserSearch,
} from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Dialog, useClose } from "../../components/dialog.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { Notice } from "../../components/states.tsx";
import { Effects } from "./effects.tsx";

/** Chooses the user who is kept, previews the merge field by field, then merges. */
export function MergeUser({ profile }: { readonly profile: Profile }) {
  const close = useClose();
  const workspace = useWorkspace();
  const [kept, setKept] = useState<FoundUser>();
  const navigate = useNavigate();
  const merge = useMergeUser();
  const send = (into: string, dry_run: boolean) =>
    merge.mutateAsync({
      params: { path: { name: workspace, id: profile.platform_id } },
      body: { into, dry_run },
    });
  const choose = (user: FoundUser) => {
    setKept(user);
    void send(user.platform_id, true).catch(() => undefined);
  };
  const confirm = async () => {
    if (!kept) return;
    await send(kept.platform_id, false);
    const show = (undo?: string) =>
      navigate({
        to: "/w/$workspace/users/$id",
        params: { workspace, id: kept.platform_id },
        ...(undo && { search: { undo } }),
      });
    tellDone(`Merged into ${nameOf(kept)}.`, async () =>
      show(await mergeOf(workspace, profile.platform_id)),
    );
    close();
    await show();
  };
  return (
    <Dialog title={`Merge ${nameOf(profile)} into another user`} size="xl">
      <Stack>
        <SaveFailure error={merge.error} />
        {!kept && <ChooseUser without={profile.platform_id} choose={choose} />}
        {kept && merge.data && (
          <>
            <Notice tone="warn">
              {nameOf(kept)} is kept. {nameOf(profile)} no longer exists afterwards, and its ids
              identify {nameOf(kept)}. The timeline of {nameOf(kept)} has a button to undo it.
            </Notice>
            <Effects
              label="Effects of the merge"
              of={merge.data.effects}
              values={[
                ["kept", "Kept user"],
                ["merged", "Merged user"],
                ["result", "Result"],
              ]}
              none="No data of the merged user would be kept."
            />
          </>
        )}
        {kept && (
          <Group justify="flex-end">
            <Button
              variant="default"
              onClick={() => {
                setKept(undefined);
                merge.reset();
              }}
            >
              Choose another user
            </Button>
            <Button
              color="red"
              loading={merge.isPending}
              disabled={!merge.data}
              onClick={() => void confirm().catch(() => undefined)}
            >
              Merge
            </Button>
          </Group>
        )}
      </Stack>
    </Dialog>
  );
}

interface ChooseUserProps {
  readonly without: string;
  choose(user: FoundUser): void;
}

function ChooseUser({ without, choose }: ChooseUserProps) {
  const [text, setText] = useState("");
  const [query] = useDebouncedValue(text.trim(), 200);
  const found = useUserSearch(query ? { query } : {});
  const users = (found.data?.pages[0]?.users ?? [])
    .filter(({ platform_id }) => platform_id !== without)
    .slice(0, 8);
  return (
    <>
      <TextInput
        label="Find the user who is kept"
        placeholder="Name, external id, alias, email or phone number"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      <ul className="plain-list">
        {users.map((user) => (
          <li key={user.platform_id}>
            <Button variant="default" fullWidth justify="start" onClick={() => choose(user)}>
              {nameOf(user)}
              <span className="dim">
                {[fullNameOf(user), user.email].filter(Boolean).map((each) => ` · ${each}`)}
              </span>
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
