import { Select, TextInput } from "@mantine/core";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog } from "../../components/form.tsx";
import { useChangeWebhooks, type Webhook } from "./api.ts";

/** As the API names the oldest change that the feed keeps. */
const BEGINNING = "beginning";

/** Delivers changes once more. */
export function Replay({ webhook }: { readonly webhook: Webhook }) {
  const { replay } = useChangeWebhooks();
  return (
    <FormDialog
      title={`Replay ${webhook.name}`}
      action="Replay"
      initial={{ from: "time", time: "" }}
      validate={{
        time: (time, { from }) =>
          from === BEGINNING || !Number.isNaN(Date.parse(time)) ? null : "Required.",
      }}
      save={async ({ from, time }) => {
        await replay(webhook.id, from === BEGINNING ? from : new Date(time).toISOString());
        tellDone(`The changes are sent to ${webhook.name} once more.`);
      }}
    >
      {(form) => (
        <>
          <div>
            Changes are delivered again in the background, beside new ones, with the same ids as
            before.
          </div>
          <Select
            label="From"
            data={[
              { value: "time", label: "A time" },
              { value: BEGINNING, label: "The beginning of the change feed" },
            ]}
            {...form.getInputProps("from")}
          />
          {form.getValues().from !== BEGINNING && (
            <TextInput
              type="datetime-local"
              label="Time"
              description="In your time zone."
              {...form.getInputProps("time")}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
