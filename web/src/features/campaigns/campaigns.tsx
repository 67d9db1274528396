import { TextInput } from "@mantine/core";
import { Mail, Megaphone, MessageSquare, Plus, Waypoints } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { useCampaigns, useCanvases, useChangeCampaigns } from "../../api/messages.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Entries } from "../../components/entries.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { newId } from "../../components/new-id.ts";
import { Page } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { channelName, Tag } from "../../components/tag.tsx";
import { AddMessage, type MessagePlace } from "./add-message.tsx";

interface Step {
  /** Empty for the messages of a campaign. */
  readonly id: string;
  /** Where a new message goes. */
  readonly place: MessagePlace;
  readonly messages: readonly Schemas["MessageHead"][];
}

/** A campaign, or a canvas: both have messages. */
interface Holder {
  readonly id: string;
  readonly name: string;
  readonly declared: boolean;
  readonly steps: readonly Step[];
}

const NEEDS = "send_campaigns_canvases" as const;

/** Campaigns and canvases, as far as translations need them: their messages. */
export function CampaignsPage() {
  const change = useChangeCampaigns();
  const { open, dialog } = useDialog();
  const shared = {
    purpose: "Add one here, or declare it in a manifest.",
    needs: NEEDS,
    columns: columnsOf((place) => open(<AddMessage place={place} />)),
    removal: "Its messages and their translations are removed with it.",
  };
  return (
    <Page
      title="Campaigns and canvases"
      about="Messages with translated strings. Your messaging system sends them."
    >
      <div className="stack">
        <Entries
          {...shared}
          title="Campaigns"
          about="Each has messages, one or more for every channel."
          noun="campaign"
          icon={Megaphone}
          from={useCampaigns()}
          rows={(body): readonly Holder[] =>
            body.campaigns.map(({ messages, ...each }) => ({
              ...each,
              steps: [{ id: "", place: { campaign_id: each.id }, messages }],
            }))
          }
          initial={(holder) => ({ id: holder?.id ?? newId(), name: holder?.name ?? "" })}
          fields={(form) => (
            <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          )}
          save={({ id, name }) => change.putCampaign(id, name)}
          remove={({ id }) => change.removeCampaign(id)}
        />
        <Entries
          {...shared}
          title="Canvases"
          about="Each has steps, and every step has messages."
          noun="canvas"
          icon={Waypoints}
          from={useCanvases()}
          rows={(body): readonly Holder[] =>
            body.canvases.map((each) => ({
              ...each,
              steps: each.steps.map(({ id, messages }) => ({
                id,
                place: { canvas_id: each.id, step_id: id },
                messages,
              })),
            }))
          }
          initial={(holder) => ({
            id: holder?.id ?? newId(),
            name: holder?.name ?? "",
            present: holder?.steps.map(({ id }) => id) ?? [],
            steps: String(Math.max(1, holder?.steps.length ?? 0)),
          })}
          validate={{ steps: (count) => (Number(count) > 0 ? null : "At least 1.") }}
          fields={(form) => (
            <>
              <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
              <TextInput
                label="Steps"
                type="number"
                min={Math.max(1, form.getValues().present.length)}
                max={100}
                {...form.getInputProps("steps")}
              />
            </>
          )}
          save={({ id, name, present, steps }) =>
            change.putCanvas(
              id,
              name,
              Array.from({ length: Number(steps) }, (_, step) => present[step] ?? newId()),
            )
          }
          remove={({ id }) => change.removeCanvas(id)}
        />
      </div>
      {dialog}
    </Page>
  );
}

const columnsOf = (add: (place: MessagePlace) => void): readonly Column<Holder>[] => [
  column("Name", (each) => <DeclaredName of={each} />),
  column("Messages", { width: "60%" }, (each) => <Steps holder={each} add={add} />),
];

const Steps = ({ holder, add }: { readonly holder: Holder; add(place: MessagePlace): void }) => (
  <ol className="plain-list">
    {holder.steps.map(({ id, place, messages }, step) => (
      <li key={id} className="step">
        {id && <span className="dim">Step {step + 1}</span>}
        {messages.map((message) => (
          <FeatureLink
            key={message.id}
            to="/w/$workspace/translations"
            search={{ message: message.id }}
            className="message-link"
          >
            {message.channel === "email" ? (
              <Mail size={14} aria-hidden />
            ) : (
              <MessageSquare size={14} aria-hidden />
            )}
            {channelName(message.channel)}
            {!message.multi_language && <Tag>One language</Tag>}
          </FeatureLink>
        ))}
        <PermittedButton
          needs={NEEDS}
          variant="subtle"
          size="compact-xs"
          leftSection={<Plus size={12} />}
          aria-label={`Add a message to ${holder.name}${id && `, step ${step + 1}`}`}
          onClick={() => add(place)}
        >
          Add a message
        </PermittedButton>
      </li>
    ))}
  </ol>
);
