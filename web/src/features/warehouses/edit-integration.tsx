import { Select, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useState } from "react";
import { useSettings } from "../../api/administration.ts";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import {
  emptySettings,
  filledIn,
  missingIn,
  type Setting,
  SettingFields,
} from "../../components/setting-fields.tsx";
import { Loaded, Notice } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import {
  type Integration,
  type IntegrationBody,
  type IntegrationChange,
  type Sources,
  type TableRequest,
  useChangeIntegrations,
  useSources,
} from "./api.ts";
import { ScheduleFields } from "./schedule.tsx";
import { TableField } from "./table-field.tsx";
import { TestBeforeSaving } from "./test-before-saving.tsx";

interface EditIntegrationProps {
  readonly integration?: Integration;
}

interface Values extends Record<string, unknown> {
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly schedule: string;
  readonly schedule_time_zone: string;
  readonly contact_emails: string;
  /** One of `choicesOf`. */
  readonly from: string;
  readonly settings: Record<string, string>;
}

const optionsOf = (values: readonly string[]) =>
  values.map((value) => ({ value, label: sentence(value) }));

/** The form of an integration, drawn from what its workspace may read. */
export function EditIntegration(props: EditIntegrationProps) {
  const sources = useSources();
  const { data, isPending } = useSettings();
  if (isPending) return null;
  return (
    <Loaded from={sources} lines={1}>
      {(body) => (
        <IntegrationForm {...props} sources={body} zone={data?.settings.time_zone ?? "UTC"} />
      )}
    </Loaded>
  );
}

/** A source of rows, and the fields to fill in for it. */
interface Choice {
  readonly value: string;
  readonly label: string;
  readonly settings: readonly Setting[];
  /** The declaration's members besides the settings. */
  readonly fixed: Readonly<Record<string, string>>;
}

/** Where nothing but single settings changes. */
const AS_BEFORE = "as before";

function choicesOf({ connections, kinds, inline }: Sources): Choice[] {
  const kindOf = (type: string) => kinds.find((kind) => kind.type === type);
  const declared = connections.map(({ name, type }) => ({
    value: `connection ${name}`,
    label: `${name} (${kindOf(type)?.label ?? type})`,
    settings: kindOf(type)?.place ?? [],
    fixed: { connection: name },
  }));
  const own = kinds.map(({ type, label, connection, place }) => ({
    value: `kind ${type}`,
    label: `${label}, with its own login`,
    // A root belongs to connections.
    settings: [...connection.filter(({ name }) => name !== "root"), ...place],
    fixed: { type },
  }));
  return inline ? [...declared, ...own] : declared;
}

interface IntegrationFormProps extends EditIntegrationProps {
  readonly sources: Sources;
  /** Of the workspace: where a new schedule is. */
  readonly zone: string;
}

function IntegrationForm({ integration, sources, zone }: IntegrationFormProps) {
  const { put, patch } = useChangeIntegrations();
  const [id] = useState(() => integration?.integration_id ?? newId());
  const choices = [...(integration ? [asBefore(integration, sources)] : []), ...choicesOf(sources)];
  const chosen = ({ from }: Pick<Values, "from">) => choices.find(({ value }) => value === from);
  const initial: Values = {
    name: integration?.name ?? "",
    type: integration?.type ?? "attributes",
    status: integration?.status ?? "active",
    schedule: integration?.schedule ?? "",
    schedule_time_zone: integration?.schedule ? integration.schedule_time_zone : zone,
    contact_emails: integration?.contact_emails ?? "",
    from: integration ? AS_BEFORE : (choices[0]?.value ?? ""),
    settings: emptySettings(choices.flatMap(({ settings }) => settings)),
  };
  return (
    <FormDialog
      title={integration ? `Edit ${integration.name}` : "Add an integration"}
      initial={initial}
      validate={(values) => ({
        name: required(values.name),
        from: required(values.from),
        ...missingIn(chosen(values)?.settings ?? [], values),
      })}
      size="lg"
      save={async (values) => {
        const body = bodyOf(values, chosen(values));
        if (values.from === AS_BEFORE) await patch({ id, body });
        else {
          const retry = integration && { retry: integration.retry };
          await put(id, { ...body, ...retry } as IntegrationBody);
        }
        tellDone(`Saved ${values.name}.`);
      }}
    >
      {(form) => (
        <>
          <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          <div className="fields">
            <Select
              label="Brings"
              data={optionsOf(["attributes", "events", "purchases", "delete"])}
              {...form.getInputProps("type")}
            />
            <Select
              label="Status"
              data={optionsOf(["active", "paused"])}
              {...form.getInputProps("status")}
            />
          </div>
          <SourceFields id={id} form={form} choices={choices} />
          <TestBeforeSaving
            changed={() => {
              if (form.validate().hasErrors) return undefined;
              const values = form.getValues();
              // What is read from elsewhere keeps nothing of the present source.
              const isNew = values.from !== AS_BEFORE;
              return { id: isNew ? newId() : id, body: bodyOf(values, chosen(values)) };
            }}
          />
          <ScheduleFields
            schedule={form.values.schedule}
            zone={form.values.schedule_time_zone}
            error={form.errors.schedule}
            change={form.setValues}
          />
          <TextInput
            label="Contacts"
            placeholder="data@example.com"
            description="Get mail about failed runs."
            {...form.getInputProps("contact_emails")}
          />
        </>
      )}
    </FormDialog>
  );
}

interface SourceFieldsProps {
  readonly id: string;
  readonly form: UseFormReturnType<Values>;
  readonly choices: readonly Choice[];
}

function SourceFields({ id, form, choices }: SourceFieldsProps) {
  const { from } = form.getValues();
  const chosen = choices.find(({ value }) => value === from);
  if (choices.length === 0) {
    return (
      <Notice>
        No connection of the company lists this workspace. A company admin adds one under Company
        settings, Connections.
      </Notice>
    );
  }
  return (
    <>
      <Select
        label="From"
        data={choices.map(({ value, label }) => ({ value, label }))}
        {...form.getInputProps("from")}
      />
      {chosen && (
        <SettingFields
          form={form}
          settings={chosen.settings}
          listed={(field) => (
            <TableField
              {...field}
              integration={id}
              source={() =>
                from === AS_BEFORE
                  ? {}
                  : ({ warehouse: sourceIn(form.getValues(), chosen) } as TableRequest)
              }
            />
          )}
        />
      )}
      <p className="dim">
        The source needs a column UPDATED_AT, one that names the user (such as EXTERNAL_ID or
        EMAIL), and PAYLOAD with JSON, unless users are deleted.
      </p>
    </>
  );
}

/** The present source: what is typed replaces a part of it, and its secrets stay. */
function asBefore({ warehouse: { type, place } }: Integration, { kinds }: Sources): Choice {
  const settings = kinds.find((kind) => kind.type === type)?.place ?? [];
  return {
    value: AS_BEFORE,
    label: `As before: ${type}, ${place}`,
    settings: settings.map(({ description, ...setting }) => ({
      ...setting,
      description: `${description} Empty: as before.`,
      required: false,
    })),
    fixed: {},
  };
}

const sourceIn = (values: Values, { fixed, settings }: Choice) => ({
  ...fixed,
  ...filledIn(settings, values),
});

/** The body of the request: of a PATCH for the source as before, else of a PUT. */
function bodyOf(values: Values, chosen: Choice | undefined): IntegrationChange {
  const { name, type, status, schedule, schedule_time_zone, contact_emails, from } = values;
  const warehouse = chosen && sourceIn(values, chosen);
  const none = from === AS_BEFORE ? null : undefined;
  return {
    name,
    type,
    status,
    schedule: schedule || none,
    schedule_time_zone: schedule ? schedule_time_zone : none,
    contact_emails: contact_emails || none,
    ...(warehouse && Object.keys(warehouse).length > 0 && { warehouse }),
  } as IntegrationChange;
}
