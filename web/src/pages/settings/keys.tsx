import { MultiSelect, TagsInput, TextInput } from "@mantine/core";
import { PERMISSIONS } from "../../../../src/core/base/context/permissions.ts";
import { type NewKey, useApiKeys, useChangeApiKeys } from "../../api/credentials.ts";
import { FormDialog, required } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { Credentials } from "./credentials.tsx";

export function Keys() {
  const keys = useApiKeys();
  const change = useChangeApiKeys();
  return (
    <Loaded from={keys}>
      {({ api_keys }) => (
        <Credentials
          noun="API key"
          title="API keys"
          action="Create an API key"
          about="Clients send a key with every request. Give each client its own, with the permissions that it needs."
          scopeTitle="Permissions"
          list={api_keys.map(({ previous_key_until, permissions, ip_allowlist, ...key }) => ({
            ...key,
            previousUntil: previous_key_until,
            scope: <Scope permissions={permissions} addresses={ip_allowlist} />,
          }))}
          needs="admin"
          rotate={change.rotate}
          revoke={change.revoke}
          create={(created) => (
            <CreateKey save={async (key) => created(await change.create(key))} />
          )}
        />
      )}
    </Loaded>
  );
}

interface ScopeProps {
  readonly permissions: readonly string[];
  readonly addresses: readonly string[];
}

const MOST_NAMED = 4;

const Scope = ({ permissions, addresses }: ScopeProps) => (
  <>
    {permissions.slice(0, MOST_NAMED).join(", ")}
    {permissions.length > MOST_NAMED && ` and ${permissions.length - MOST_NAMED} more`}
    {addresses.length > 0 && <div className="dim">only from {addresses.join(", ")}</div>}
  </>
);

const CreateKey = ({ save }: { save(key: NewKey): Promise<void> }) => (
  <FormDialog
    title="Create an API key"
    action="Create"
    initial={{ name: "", permissions: [] as NewKey["permissions"], ip_allowlist: [] as string[] }}
    validate={{
      name: required,
      permissions: (list) => (list.length > 0 ? null : "Choose at least one."),
    }}
    save={save}
  >
    {(form) => (
      <>
        <TextInput
          label="Name"
          description="Which client uses it, such as checkout-service."
          data-autofocus
          {...form.getInputProps("name")}
        />
        <MultiSelect
          label="Permissions"
          data={["all", ...PERMISSIONS]}
          searchable
          clearable
          {...form.getInputProps("permissions")}
        />
        <TagsInput
          label="Allowed addresses"
          description="IP addresses or ranges (203.0.113.0/24). Empty allows all."
          {...form.getInputProps("ip_allowlist")}
        />
      </>
    )}
  </FormDialog>
);
