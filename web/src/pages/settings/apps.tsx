import { Select, TextInput } from "@mantine/core";
import { Smartphone } from "lucide-react";
import { useApps } from "../../api/administration.ts";
import type { Schemas } from "../../api/client.ts";
import { APPS, useChangeEntries } from "../../api/entries.ts";
import { Id } from "../../components/code-block.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Entries } from "../../components/entries.tsx";
import { newId } from "../../components/new-id.ts";

/** With the names that their makers use. */
const PLATFORMS = {
  android: "Android",
  fire_os: "Fire OS",
  ios: "iOS",
  macos: "macOS",
  roku: "Roku",
  tvos: "tvOS",
  unity: "Unity",
  web: "Web",
  windows: "Windows",
};

type App = Schemas["App"];

const COLUMNS: readonly Column<App>[] = [
  column("Name", (each) => <DeclaredName of={each} />),
  column("Platform", { width: "8rem" }, (app) => PLATFORMS[app.platform] ?? app.platform),
  column("app_id", { width: "42%" }, ({ id }) => <Id value={id} />),
];

export function Apps() {
  const { save, remove } = useChangeEntries(APPS);
  return (
    <Entries
      title="Apps"
      about="The sources of events, purchases and push tokens. They name an app by its id."
      noun="app"
      icon={Smartphone}
      purpose="Events, purchases and push tokens name the app that they come from (app_id)."
      from={useApps()}
      needs="manage_apps"
      columns={COLUMNS}
      rows={({ apps }) => apps}
      initial={(app: App = { id: newId(), name: "", platform: "web", declared: false }) => ({
        ...app,
      })}
      fields={(form) => (
        <>
          <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          <Select
            label="Platform"
            data={Object.entries(PLATFORMS).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps("platform")}
          />
        </>
      )}
      save={({ id, declared: _, ...app }, isNew) => save(id, app, isNew)}
      remove={({ id }) => remove(id)}
      removal="Requests that name it are refused from then on. Stored data stays."
    />
  );
}
