import { Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useChangeCampaigns } from "../../api/messages.ts";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { channelName } from "../../components/tag.tsx";

/** The campaign, or the canvas and the step, that a message belongs to. */
export type MessagePlace =
  | { readonly campaign_id: string }
  | { readonly canvas_id: string; readonly step_id: string };

export function AddMessage({ place }: { readonly place: MessagePlace }) {
  const { putMessage } = useChangeCampaigns();
  return (
    <FormDialog
      title="Add a message"
      initial={{
        channel: "email",
        multi_language: true,
        subject: "",
        body: "{% translation hello %}Hello{% endtranslation %}",
      }}
      validate={{ body: required }}
      size="lg"
      save={async ({ channel, multi_language, subject, body }) => {
        await putMessage(newId(), {
          ...place,
          channel: channel as "email",
          multi_language,
          content: { ...(subject && { subject }), body },
        });
        tellDone("Added the message.");
      }}
    >
      {(form) => (
        <>
          <Select
            label="Channel"
            data={["email", "sms", "whatsapp"].map((value) => ({
              value,
              label: channelName(value),
            }))}
            {...form.getInputProps("channel")}
          />
          {form.getValues().channel === "email" && (
            <TextInput label="Subject" {...form.getInputProps("subject")} />
          )}
          <Textarea
            label="Body"
            description="Mark the text to translate: {% translation name %}text{% endtranslation %}"
            autosize
            minRows={4}
            {...form.getInputProps("body")}
          />
          <Switch
            label="Has translations"
            {...form.getInputProps("multi_language", { type: "checkbox" })}
          />
        </>
      )}
    </FormDialog>
  );
}
