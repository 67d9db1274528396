import { MultiSelect, Select, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { SecretDialog } from "../../components/secret-dialog.tsx";
import { sentence } from "../../components/tag.tsx";
import { useChangeWebhooks, type Webhook, type WebhookBody } from "./api.ts";

interface EditWebhookProps {
  readonly webhook?: Webhook;
  /** Shows the secret of a new webhook, once. */
  open?(dialog: ReactNode): void;
}

interface Values extends Record<string, unknown> {
  readonly name: string;
  readonly url: string;
  readonly types: Webhook["types"];
  readonly state: Webhook["state"];
  readonly contact_emails: string;
}

/** The types of changes: a type of the API that is missing here does not compile. */
const TYPES = Object.keys({
  "user.created": true,
  "user.updated": true,
  "user.identified": true,
  "user.merged": true,
  "user.unmerged": true,
  "user.deleted": true,
  "event.logged": true,
  "purchase.logged": true,
  "subscription.changed": true,
  "email_state.changed": true,
  "sync.finished": true,
  "export.finished": true,
} satisfies Record<Webhook["types"][number], true>);

const STATES = ["active", "paused"].map((value) => ({ value, label: sentence(value) }));

/** The form of a webhook; a new one gets its secret here. */
export function EditWebhook({ webhook, open }: EditWebhookProps) {
  const { put } = useChangeWebhooks();
  const initial: Values = {
    name: webhook?.name ?? "",
    url: webhook?.url ?? "",
    types: webhook?.types ?? [],
    state: webhook?.state ?? "active",
    contact_emails: webhook?.contact_emails ?? "",
  };
  return (
    <FormDialog
      title={webhook ? `Edit ${webhook.name}` : "Add a webhook"}
      initial={initial}
      validate={{ name: required, url: required }}
      size="lg"
      save={async (values) => {
        const secret = webhook ? undefined : newSecret();
        await put(webhook?.id ?? newId(), { ...bodyOf(values), ...(secret && { secret }) });
        if (secret) open?.(<WebhookSecret secret={secret} />);
        tellDone(`Saved ${values.name.trim()}.`);
      }}
    >
      {(form) => (
        <>
          <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          <TextInput
            label="URL"
            placeholder="https://crm.example/rapport"
            description="Gets a POST for each batch of changes."
            autoComplete="off"
            {...form.getInputProps("url")}
          />
          <MultiSelect
            label="Types of changes"
            description="Empty: all."
            data={TYPES}
            searchable
            clearable
            {...form.getInputProps("types")}
          />
          <div className="fields">
            <Select
              label="State"
              description="A paused webhook keeps its place."
              data={STATES}
              {...form.getInputProps("state")}
            />
            <TextInput
              label="Contacts"
              placeholder="ops@example.com"
              description="Get mail when it is paused automatically."
              {...form.getInputProps("contact_emails")}
            />
          </div>
        </>
      )}
    </FormDialog>
  );
}

/** The secret in force, when it is made. */
export const WebhookSecret = ({ secret }: { readonly secret: string }) => (
  <SecretDialog title="The secret of the webhook" secret={secret} />
);

/** The body of the request that saves a webhook; without a secret, the present one stays. */
const bodyOf = ({ name, url, types, state, contact_emails }: Values): WebhookBody => ({
  name: name.trim(),
  url: url.trim(),
  types,
  state,
  ...(contact_emails.trim() && { contact_emails: contact_emails.trim() }),
});

/**
 * A secret as Standard Webhooks wants it. The server never shows the secret in force, so a new one
 * is made where it is shown.
 */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
