import { Menu, TextInput } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Mail, Megaphone, MessageSquare, Plus, Waypoints } from "lucide-react";
import { useState } from "react";
import { useCampaigns, useCanvases, useChangeCampaigns } from "../../api/messages.ts";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { Card, Page } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { channelName, Tag } from "../../components/tag.tsx";
import { AddMessage, type MessagePlace } from "./add-message.tsx";

const route = getRouteApi("/w/$workspace/campaigns");

interface Message {
  readonly id: string;
  readonly channel: string;
  readonly multi_language: boolean;
}

/** A campaign, or a canvas: both have messages. */
interface Holder {
  readonly kind: "campaign" | "canvas";
  readonly id: string;
  readonly name: string;
  readonly declared: boolean;
  readonly steps: readonly { readonly id: string; readonly messages: readonly Message[] }[];
}

type Dialog =
  | { readonly kind: "edit" | "remove"; readonly holder: Holder }
  | { readonly kind: "message"; readonly place: MessagePlace };

const neededIn = (workspace: string) => ({ workspace, needs: "send_campaigns_canvases" }) as const;

/** Campaigns and canvases, as far as translations need them: their messages. */
export function CampaignsPage() {
  const { workspace } = route.useParams();
  const campaigns = useCampaigns(workspace);
  const canvases = useCanvases(workspace);
  const [dialog, setDialog] = useState<Dialog>();
  const add = (kind: Holder["kind"]) =>
    setDialog({
      kind: "edit",
      holder: { kind, id: newId(), name: "", declared: false, steps: [] },
    });
  return (
    <Page
      title="Campaigns and canvases"
      about="Messages with translated strings. Your messaging system sends them."
      actions={
        <>
          <PermittedButton
            {...neededIn(workspace)}
            variant="default"
            leftSection={<Plus size={15} />}
            onClick={() => add("canvas")}
          >
            Add a canvas
          </PermittedButton>
          <PermittedButton
            {...neededIn(workspace)}
            leftSection={<Plus size={15} />}
            onClick={() => add("campaign")}
          >
            Add a campaign
          </PermittedButton>
        </>
      }
    >
      <div className="stack">
        <Loaded from={campaigns}>
          {(body) => (
            <Holders
              workspace={workspace}
              title="Campaigns"
              holders={body.campaigns.map(({ messages, ...each }) => ({
                ...each,
                kind: "campaign",
                steps: [{ id: "", messages }],
              }))}
              open={setDialog}
            />
          )}
        </Loaded>
        <Loaded from={canvases}>
          {(body) => (
            <Holders
              workspace={workspace}
              title="Canvases"
              holders={body.canvases.map((each) => ({ ...each, kind: "canvas" }))}
              open={setDialog}
            />
          )}
        </Loaded>
      </div>
      {dialog && (
        <Dialogs workspace={workspace} dialog={dialog} close={() => setDialog(undefined)} />
      )}
    </Page>
  );
}

interface HoldersProps {
  readonly workspace: string;
  readonly title: "Campaigns" | "Canvases";
  readonly holders: readonly Holder[];
  open(dialog: Dialog): void;
}

const Holders = ({ workspace, title, holders, open }: HoldersProps) => (
  <Card
    title={title}
    about={
      title === "Campaigns"
        ? "Each has messages, one or more for every channel."
        : "Each has steps, and every step has messages."
    }
    flush
  >
    <DataTable
      label={title}
      columns={columnsOf(workspace, open)}
      rows={holders}
      keyOf={({ id }) => id}
      empty={
        <Empty
          icon={title === "Campaigns" ? Megaphone : Waypoints}
          title={`No ${title.toLowerCase()} yet`}
        >
          Add one here, or declare it in a manifest.
        </Empty>
      }
    />
  </Card>
);

const columnsOf = (
  workspace: string,
  open: (dialog: Dialog) => void,
): readonly Column<Holder>[] => [
  {
    id: "name",
    header: "Name",
    cell: ({ row }) => <DeclaredName of={row.original} />,
  },
  {
    id: "messages",
    header: "Messages",
    meta: { width: "60%" },
    cell: ({ row }) => <Steps workspace={workspace} holder={row.original} open={open} />,
  },
  {
    id: "actions",
    header: () => <span className="hidden">Actions</span>,
    meta: { width: "4rem", end: true },
    cell: ({ row: { original: holder } }) => (
      <RowActions of={holder.name} needed={neededIn(workspace)}>
        <Menu.Item onClick={() => open({ kind: "edit", holder })}>Edit…</Menu.Item>
        <Menu.Item onClick={() => open({ kind: "remove", holder })}>Remove…</Menu.Item>
      </RowActions>
    ),
  },
];

interface StepsProps {
  readonly workspace: string;
  readonly holder: Holder;
  open(dialog: Dialog): void;
}

const Steps = ({ workspace, holder, open }: StepsProps) => (
  <ol className="plain-list">
    {holder.steps.map(({ id, messages }, step) => (
      <li key={id} className="step">
        {holder.kind === "canvas" && <span className="dim">Step {step + 1}</span>}
        {messages.map((message) => (
          <Link
            key={message.id}
            to="/w/$workspace/translations"
            params={{ workspace }}
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
          </Link>
        ))}
        <PermittedButton
          {...neededIn(workspace)}
          variant="subtle"
          size="compact-xs"
          leftSection={<Plus size={12} />}
          aria-label={`Add a message to ${holder.name}${id && `, step ${step + 1}`}`}
          onClick={() =>
            open({
              kind: "message",
              place:
                holder.kind === "campaign"
                  ? { campaign_id: holder.id }
                  : { canvas_id: holder.id, step_id: id },
            })
          }
        >
          Add a message
        </PermittedButton>
      </li>
    ))}
  </ol>
);

interface DialogsProps {
  readonly workspace: string;
  readonly dialog: Dialog;
  close(): void;
}

function Dialogs({ workspace, dialog, close }: DialogsProps) {
  const change = useChangeCampaigns(workspace);
  if (dialog.kind === "message") {
    return <AddMessage workspace={workspace} place={dialog.place} close={close} />;
  }
  const { holder } = dialog;
  const steps = holder.steps.map(({ id }) => id);
  if (dialog.kind === "remove") {
    return (
      <Confirm
        title={`Remove ${holder.name}`}
        action="Remove"
        close={close}
        run={() =>
          holder.kind === "campaign"
            ? change.removeCampaign(holder.id)
            : change.removeCanvas(holder.id)
        }
      >
        Its messages and their translations are removed with it.
      </Confirm>
    );
  }
  return (
    <FormDialog
      title={holder.name ? `Edit ${holder.name}` : `Add a ${holder.kind}`}
      initial={{ name: holder.name, steps: String(Math.max(1, steps.length)) }}
      validate={{ name: required, steps: (count) => (Number(count) > 0 ? null : "At least 1.") }}
      close={close}
      save={({ name, steps: count }) =>
        holder.kind === "campaign"
          ? change.putCampaign(holder.id, name)
          : change.putCanvas(
              holder.id,
              name,
              Array.from({ length: Number(count) }, (_, step) => steps[step] ?? newId()),
            )
      }
    >
      {(form) => (
        <>
          <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          {holder.kind === "canvas" && (
            <TextInput
              label="Steps"
              type="number"
              min={Math.max(1, steps.length)}
              max={100}
              {...form.getInputProps("steps")}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
