import { MultiSelect, Select, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { Cable } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { CONNECTIONS, useChangeEntries } from "../../api/entries.ts";
import { useSession } from "../../api/session.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Entries } from "../../components/entries.tsx";
import {
  emptySettings,
  filledIn,
  type Setting,
  SettingFields,
} from "../../components/setting-fields.tsx";
import { Loaded, Notice } from "../../components/states.tsx";
import { type SourceKind, useConnections, useSourceKinds } from "./api.ts";

type Connection = Schemas["Connection"];

interface Values extends Record<string, unknown> {
  readonly name: string;
  readonly type: string;
  readonly workspaces: string[];
  readonly settings: Record<string, string>;
}

/** The warehouses of the company, and which workspaces may read through each. */
export function Connections() {
  const kinds = useSourceKinds();
  return <Loaded from={kinds}>{(body) => <List kinds={body.kinds} />}</Loaded>;
}

const columnsOf = (kinds: readonly SourceKind[]): readonly Column<Connection>[] => [
  column("Name", { width: "30%" }, (each) => <DeclaredName of={each} />),
  column(
    "Kind",
    { width: "30%" },
    (each) => kinds.find(({ type }) => type === each.type)?.label ?? each.type,
  ),
  column(
    "Workspaces",
    ({ workspaces }) => workspaces.join(", ") || <span className="dim">None</span>,
  ),
];

function List({ kinds }: { readonly kinds: readonly SourceKind[] }) {
  const { save, remove } = useChangeEntries(CONNECTIONS);
  const settingsOf = (type: string) => kinds.find((kind) => kind.type === type)?.connection ?? [];
  const all = kinds.flatMap(({ connection }) => connection);
  return (
    <Entries
      title="Connections"
      about="How the company's warehouses are reached, and which workspaces may read through each."
      noun="connection"
      icon={Cable}
      purpose="A connection says how a warehouse is reached. Integrations of the workspaces that it lists name it."
      from={useConnections()}
      needs={{ company: "admin" }}
      columns={columnsOf(kinds)}
      rows={({ connections }) => connections}
      initial={(connection): Values => ({
        name: connection?.name ?? "",
        type: connection?.type ?? kinds[0]?.type ?? "",
        workspaces: [...(connection?.workspaces ?? [])],
        settings: { ...emptySettings(all), ...shownOf(connection) },
      })}
      fields={(form, isNew) => <Fields form={form} isNew={isNew} kinds={kinds} />}
      save={(values, isNew) => {
        const { name, type, workspaces } = values;
        const settings = settingsOf(type);
        const body = {
          type,
          workspaces,
          ...(isNew ? {} : emptied(all, settings)),
          ...filledIn(settings, values),
        };
        return save(name.trim(), body as never, isNew);
      }}
      remove={({ name }) => remove(name)}
      removal="The next run of each integration that names it ends as a configuration error."
    />
  );
}

/** Null for what a form that shows these settings leaves out; an empty secret stays. */
const emptied = (
  all: readonly Setting[],
  settings: readonly Setting[],
): Readonly<Record<string, null>> => {
  const kept = settings.filter(({ secret }) => secret).map(({ name }) => name);
  const names = all.map(({ name }) => name).filter((name) => !kept.includes(name));
  return Object.fromEntries(names.map((name) => [name, null]));
};

/** The settings that are not secret, for the form. */
const shownOf = (connection: Connection | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(connection ?? {}).flatMap(([name, value]) =>
      typeof value === "string" && name !== "name" && name !== "type" ? [[name, value]] : [],
    ),
  );

interface FieldsProps {
  readonly form: UseFormReturnType<Values>;
  readonly isNew: boolean;
  readonly kinds: readonly SourceKind[];
}

function Fields({ form, isNew, kinds }: FieldsProps) {
  const { workspaces } = useSession();
  const { type } = form.getValues();
  return (
    <>
      {!isNew && (
        <Notice>
          Secrets are never shown. An empty one stays, unless it would be sent elsewhere: then enter
          it again.
        </Notice>
      )}
      <TextInput label="Name" disabled={!isNew} {...form.getInputProps("name")} />
      <Select
        label="Kind"
        data={kinds.map((kind) => ({ value: kind.type, label: kind.label }))}
        {...form.getInputProps("type")}
      />
      <SettingFields
        form={form}
        settings={kinds.find((kind) => kind.type === type)?.connection ?? []}
      />
      <MultiSelect
        label="Workspaces"
        data={[...workspaces]}
        searchable
        clearable
        {...form.getInputProps("workspaces")}
      />
    </>
  );
}
