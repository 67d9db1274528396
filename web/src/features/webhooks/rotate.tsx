import { Select } from "@mantine/core";
import type { ReactNode } from "react";
import { FormDialog } from "../../components/form.tsx";
import { useChangeWebhooks, type Webhook } from "./api.ts";
import { WebhookSecret } from "./edit-webhook.tsx";

interface RotateProps {
  readonly webhook: Webhook;
  open(dialog: ReactNode): void;
}

const HOUR = 3_600;

/** How long two secrets sign, by its seconds. */
const OVERLAPS = [
  { value: "0", label: "Not at all" },
  { value: String(HOUR), label: "An hour" },
  { value: String(24 * HOUR), label: "A day" },
  { value: String(7 * 24 * HOUR), label: "A week" },
  { value: String(30 * 24 * HOUR), label: "30 days" },
];

/** Gives a webhook a new secret. */
export function Rotate({ webhook, open }: RotateProps) {
  const { rotate } = useChangeWebhooks();
  return (
    <FormDialog
      title={`Rotate the secret of ${webhook.name}`}
      action="Rotate"
      initial={{ overlap: String(24 * HOUR) }}
      save={async ({ overlap }) =>
        open(<WebhookSecret secret={await rotate(webhook.id, Number(overlap))} />)
      }
    >
      {(form) => (
        <>
          <div>The webhook gets a new secret, shown once.</div>
          <Select
            label="The present secret signs as well for"
            description="This leaves time to replace it at the receiver."
            data={OVERLAPS}
            {...form.getInputProps("overlap")}
          />
        </>
      )}
    </FormDialog>
  );
}
