import { Menu } from "@mantine/core";
import type { FormValidateInput, UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { Confirm } from "./confirm.tsx";
import { actions, type Column } from "./data-table.tsx";
import { useDialog } from "./dialog.tsx";
import { tellDone } from "./feedback.tsx";
import { FormDialog, required } from "./form.tsx";
import { List, type ListProps } from "./list.tsx";
import { RowActions } from "./row-actions.tsx";

/*
 * The one list of things that administrators set, such as apps: a table, a button that adds an entry, and for each
 * entry a form and a question before it is removed. A page describes the list; everything it looks like follows.
 */

interface Named {
  readonly id?: string;
  readonly name: string;
  readonly declared?: boolean;
}

interface EntriesProps<Body, Entry extends Named, Values extends Record<string, unknown>>
  extends Omit<ListProps<Body, Entry>, "keyOf" | "adds" | "add" | "children"> {
  /** One entry, such as `team`. */
  readonly noun: string;
  /** The initial values of the form; without an entry, for a new one. */
  initial(entry?: Entry): Values;
  readonly validate?: FormValidateInput<Values>;
  /** The label of the button of a new entry's form. */
  readonly action?: string;
  fields(form: UseFormReturnType<Values>, isNew: boolean): ReactNode;
  save(values: Values, isNew: boolean): Promise<unknown>;
  /** Entries whose form would only contain their name cannot be edited. */
  readonly isFixed?: boolean;
  /** Entries that can be changed and not removed. */
  isKept?(entry: Entry): boolean;
  readonly remove?: (entry: Entry) => Promise<unknown>;
  /** How removing an entry changes other things. */
  readonly removal?: string;
}

export function Entries<Body, Entry extends Named, Values extends Record<string, unknown>>(
  props: EntriesProps<Body, Entry, Values>,
) {
  const { noun, columns, remove } = props;
  const { open, dialog } = useDialog();
  return (
    <List
      {...props}
      adds={`Add ${withArticle(noun)}`}
      add={() => open(<Edit {...props} />)}
      columns={[...columns.map(byName), ...(remove ? [actionsOf(props, open)] : [])]}
      keyOf={({ id, name }) => id ?? name}
    >
      {dialog}
    </List>
  );
}

/** Every list sorts by the name. */
const byName = <Entry extends Named>(column: Column<Entry>): Column<Entry> =>
  column.header === "Name" ? { ...column, sortBy: "name" } : column;

const withArticle = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`);

const actionsOf = <Body, Entry extends Named, Values extends Record<string, unknown>>(
  props: EntriesProps<Body, Entry, Values>,
  open: (dialog: ReactNode) => void,
): Column<Entry> =>
  actions("4rem", (entry) => (
    <RowActions of={entry.name} needs={props.needs}>
      {!props.isFixed && (
        <Menu.Item onClick={() => open(<Edit {...props} entry={entry} />)}>Edit…</Menu.Item>
      )}
      {!props.isKept?.(entry) && (
        <Menu.Item onClick={() => open(<Remove {...props} entry={entry} />)}>Remove…</Menu.Item>
      )}
    </RowActions>
  ));

function Edit<Body, Entry extends Named, Values extends Record<string, unknown>>(
  props: EntriesProps<Body, Entry, Values> & { readonly entry?: Entry },
) {
  const { noun, entry, initial, validate, action = "Save", fields, save } = props;
  const isNew = entry === undefined;
  return (
    <FormDialog
      title={isNew ? `Add ${withArticle(noun)}` : `Edit ${entry.name}`}
      initial={initial(entry)}
      validate={{ name: required, ...validate } as FormValidateInput<Values>}
      action={isNew ? action : "Save"}
      save={async (values) => {
        await save(values, isNew);
        tellDone(`Saved ${String(values.name).trim()}.`);
      }}
    >
      {(form) => fields(form, isNew)}
    </FormDialog>
  );
}

function Remove<Body, Entry extends Named, Values extends Record<string, unknown>>({
  entry,
  remove,
  removal,
}: EntriesProps<Body, Entry, Values> & { readonly entry: Entry }) {
  return (
    <Confirm
      title={`Remove ${entry.name}`}
      action="Remove"
      run={async () => {
        await remove?.(entry);
        tellDone(`Removed ${entry.name}.`);
      }}
    >
      {removal}
      {entry.declared && " A manifest declares it: the next apply brings it back."}
    </Confirm>
  );
}
