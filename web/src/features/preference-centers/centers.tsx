import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { SlidersHorizontal } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Id } from "../../components/code-block.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { List } from "../../components/list.tsx";
import { newId } from "../../components/new-id.ts";
import { StateTag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { useCenters, useChangeCenters } from "./api.ts";

export function CentersPage() {
  const { open, dialog } = useDialog();
  return (
    <List
      isPage
      title="Preference centers"
      about="Pages where users choose what they receive, each with its own link."
      icon={SlidersHorizontal}
      purpose="A new center has a ready page in 20 and more languages, which you can replace with your own."
      needs="manage_email_settings"
      adds="Add a center"
      add={() => open(<AddCenter />)}
      from={useCenters()}
      columns={COLUMNS}
      rows={(body) => body.preference_centers}
      keyOf={({ id }) => id}
      opens
    >
      {dialog}
    </List>
  );
}

function AddCenter() {
  const workspace = useWorkspace();
  const { put } = useChangeCenters();
  const navigate = useNavigate();
  return (
    <FormDialog
      title="Add a preference center"
      initial={{ name: "" }}
      validate={{ name: required }}
      action="Create a draft"
      save={async ({ name }) => {
        const id = newId();
        await put(id, { name, state: "draft" });
        await navigate({
          to: "/w/$workspace/preference-centers/$id",
          params: { workspace, id },
        });
      }}
    >
      {(form) => (
        <TextInput
          label="Name"
          description="Letters, digits, hyphens and underscores."
          data-autofocus
          {...form.getInputProps("name")}
        />
      )}
    </FormDialog>
  );
}

const COLUMNS: readonly Column<Schemas["DeclaredPreferenceCenterSummary"]>[] = [
  column("Name", { sortBy: "name" }, (center) => (
    <DeclaredName of={center} page="/w/$workspace/preference-centers/$id" id={center.id} />
  )),
  column("Title", { sortBy: "title" }, ({ title }) => title),
  column("Id", { width: "32%" }, ({ id }) => <Id value={id} />),
  column("State", { sortBy: "state", width: "7rem" }, ({ state }) => <StateTag state={state} />),
  column("Updated", { sortBy: "updated_at", width: "8.5rem" }, ({ updated_at }) => (
    <Time at={updated_at} />
  )),
];
