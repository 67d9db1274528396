import { PasswordInput, Select, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { type Integration, type IntegrationBody, useChangeIntegrations } from "../../api/syncs.ts";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { Notice } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";

interface EditIntegrationProps {
  readonly workspace: string;
  readonly integration?: Integration;
  close(): void;
}

type Values = Record<
  | "name"
  | "type"
  | "status"
  | "schedule"
  | "contact_emails"
  | "warehouse"
  | "url"
  | "table"
  | "format"
  | "access_key_id"
  | "secret_access_key",
  string
>;

const WAREHOUSES = [
  { value: "postgres", label: "PostgreSQL" },
  { value: "redshift", label: "Redshift" },
  { value: "files", label: "Files in a folder" },
  { value: "s3", label: "Files in S3" },
];

const optionsOf = (values: readonly string[]) =>
  values.map((value) => ({ value, label: sentence(value) }));

/** The form of an integration. Its credentials are stored sealed and never shown: they are entered again. */
export function EditIntegration({ workspace, integration, close }: EditIntegrationProps) {
  const { put } = useChangeIntegrations(workspace);
  const id = integration?.integration_id ?? newId();
  const initial: Values = {
    name: integration?.name ?? "",
    type: integration?.type ?? "attributes",
    status: integration?.status ?? "active",
    schedule: integration?.schedule ?? "",
    contact_emails: integration?.contact_emails ?? "",
    warehouse: integration?.warehouse.type ?? "postgres",
    url: "",
    table: "",
    format: "",
    access_key_id: "",
    secret_access_key: "",
  };
  return (
    <FormDialog
      title={integration ? `Edit ${integration.name}` : "Add an integration"}
      initial={initial}
      validate={{ name: required, url: required }}
      size="lg"
      close={close}
      save={async (values) => {
        await put(id, { ...bodyOf(values), ...(integration && { retry: integration.retry }) });
        tellDone(`Saved ${values.name}.`);
      }}
    >
      {(form) => (
        <>
          {integration && (
            <Notice>Addresses and credentials are never shown: enter them again to save.</Notice>
          )}
          <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          <div className="fields">
            <Select
              label="Brings"
              allowDeselect={false}
              data={optionsOf(["attributes", "events", "purchases", "delete"])}
              {...form.getInputProps("type")}
            />
            <Select
              label="Status"
              allowDeselect={false}
              data={optionsOf(["active", "paused"])}
              {...form.getInputProps("status")}
            />
          </div>
          <WarehouseFields form={form} />
          <div className="fields">
            <TextInput
              label="Schedule"
              placeholder="0 * * * *"
              description="Cron, in UTC. Empty: only by hand."
              {...form.getInputProps("schedule")}
            />
            <TextInput
              label="Contacts"
              placeholder="data@example.com"
              description="Get mail about failed runs."
              {...form.getInputProps("contact_emails")}
            />
          </div>
        </>
      )}
    </FormDialog>
  );
}

function WarehouseFields({ form }: { readonly form: UseFormReturnType<Values> }) {
  const { warehouse } = form.getValues();
  const isTable = warehouse === "postgres" || warehouse === "redshift";
  return (
    <>
      <Select
        label="From"
        allowDeselect={false}
        data={WAREHOUSES}
        {...form.getInputProps("warehouse")}
      />
      <TextInput
        label={isTable ? "Connection" : "Address"}
        placeholder={
          isTable ? "postgres://reader:password@warehouse/analytics" : "s3://bucket/folder/"
        }
        autoComplete="off"
        {...form.getInputProps("url")}
      />
      {isTable && (
        <TextInput
          label="Table"
          placeholder="public.users_to_sync"
          {...form.getInputProps("table")}
        />
      )}
      {!isTable && (
        <Select
          label="Format"
          placeholder="By the name of the files"
          clearable
          data={["parquet", "csv", "ndjson"]}
          {...form.getInputProps("format")}
        />
      )}
      {warehouse === "s3" && (
        <div className="fields">
          <TextInput label="Access key id" {...form.getInputProps("access_key_id")} />
          <PasswordInput
            label="Secret access key"
            autoComplete="off"
            {...form.getInputProps("secret_access_key")}
          />
        </div>
      )}
    </>
  );
}

/** The body of the request: without what the chosen warehouse does not have. */
function bodyOf({
  name,
  type,
  status,
  schedule,
  contact_emails,
  ...from
}: Values): IntegrationBody {
  const { warehouse, url, table, format, access_key_id, secret_access_key } = from;
  const isTable = warehouse === "postgres" || warehouse === "redshift";
  const source = {
    type: warehouse,
    url,
    ...(isTable && { table }),
    ...(!isTable && format && { format }),
    ...(warehouse === "s3" && { access_key_id, secret_access_key }),
  };
  return {
    name,
    type,
    status,
    ...(schedule && { schedule }),
    ...(contact_emails && { contact_emails }),
    warehouse: source,
  } as IntegrationBody;
}
