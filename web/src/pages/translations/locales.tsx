import { Menu, TextInput } from "@mantine/core";
import { Globe, Plus } from "lucide-react";
import { useState } from "react";
import { useChangeLocales, useLocales } from "../../api/messages.ts";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";

interface Locale {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly language: string;
  readonly locale_key: string;
  readonly declared: boolean;
}

type Dialog = { readonly kind: "edit" | "remove"; readonly locale: Locale };

const NEW = { name: "", country: "", language: "", locale_key: "", declared: false };

const FIELDS = [
  ["name", "Name", "Spanish (Mexico)"],
  ["language", "Language", "es"],
  ["country", "Country", "MX"],
  ["locale_key", "Locale key", "es-MX"],
] as const;

export function Locales({ workspace }: { readonly workspace: string }) {
  const locales = useLocales(workspace);
  const { put, remove } = useChangeLocales(workspace);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <Card
      title="Locales"
      about="The languages that messages are translated into. Each is a column of the grid."
      flush
      actions={
        <PermittedButton
          workspace={workspace}
          needs="send_campaigns_canvases"
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => setDialog({ kind: "edit", locale: { id: newId(), ...NEW } })}
        >
          Add a locale
        </PermittedButton>
      }
    >
      <Loaded from={locales}>
        {(body) => (
          <DataTable
            label="Locales"
            columns={columnsOf(workspace, setDialog)}
            rows={body.locales}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Globe} title="No locales yet">
                A locale is a language, with a country if you like, that messages are translated
                into.
              </Empty>
            }
          />
        )}
      </Loaded>
      {dialog?.kind === "edit" && (
        <FormDialog
          title={dialog.locale.name ? `Edit ${dialog.locale.name}` : "Add a locale"}
          initial={bodyOf(dialog.locale)}
          validate={{ name: required, language: required, locale_key: required }}
          close={close}
          save={(values) => put(dialog.locale.id, values)}
        >
          {(form) =>
            FIELDS.map(([name, label, placeholder]) => (
              <TextInput
                key={name}
                label={label}
                placeholder={placeholder}
                {...form.getInputProps(name)}
              />
            ))
          }
        </FormDialog>
      )}
      {dialog?.kind === "remove" && (
        <Confirm
          title={`Remove ${dialog.locale.name}`}
          action="Remove"
          close={close}
          run={() => remove(dialog.locale.id)}
        >
          Translations into it are kept, and wait for it to come back.
        </Confirm>
      )}
    </Card>
  );
}

const bodyOf = ({ name, language, country, locale_key }: Locale) => ({
  name,
  language,
  country,
  locale_key,
});

const columnsOf = (
  workspace: string,
  open: (dialog: Dialog) => void,
): readonly Column<Locale>[] => [
  {
    id: "name",
    header: "Name",
    cell: ({ row: { original: locale } }) => <DeclaredName of={locale} />,
  },
  {
    id: "key",
    header: "Key",
    meta: { width: "8rem" },
    cell: ({ row }) => <code>{row.original.locale_key}</code>,
  },
  {
    id: "language",
    header: "Language",
    meta: { width: "8rem" },
    cell: ({ row }) => row.original.language,
  },
  {
    id: "country",
    header: "Country",
    meta: { width: "8rem" },
    cell: ({ row }) => row.original.country,
  },
  {
    id: "actions",
    header: () => <span className="hidden">Actions</span>,
    meta: { width: "4rem", end: true },
    cell: ({ row: { original: locale } }) => (
      <RowActions of={locale.name} needed={{ workspace, needs: "send_campaigns_canvases" }}>
        <Menu.Item onClick={() => open({ kind: "edit", locale })}>Edit…</Menu.Item>
        <Menu.Item onClick={() => open({ kind: "remove", locale })}>Remove…</Menu.Item>
      </RowActions>
    ),
  },
];
