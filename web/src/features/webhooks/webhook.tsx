import { Menu } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Pause, Play, Send } from "lucide-react";
import { useWorkspace } from "../../api/workspace.ts";
import { Id } from "../../components/code-block.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { Declared } from "../../components/declared.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { PageLink } from "../../components/feature-link.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Loaded, Notice } from "../../components/states.tsx";
import { StateTag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { useChangeWebhooks, useWebhook, type Webhook } from "./api.ts";
import { Behind } from "./behind.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Deliveries } from "./deliveries.tsx";
import { EditWebhook } from "./edit-webhook.tsx";
import { Replay } from "./replay.tsx";
import { Rotate } from "./rotate.tsx";
import { tellAttempt } from "./tell-attempt.ts";

const route = getRouteApi("/w/$workspace/webhooks/$id");

export function WebhookPage() {
  const { id } = route.useParams();
  const webhook = useWebhook(id);
  return (
    <Loaded from={webhook} page="Webhook">
      {(body) => <WebhookView webhook={body} />}
    </Loaded>
  );
}

interface ViewProps {
  readonly webhook: Webhook;
}

const WebhookView = ({ webhook }: ViewProps) => (
  <Page
    title={webhook.name}
    about={
      <>
        <PageLink to="/w/$workspace/webhooks">Webhooks</PageLink>{" "}
        <Declared declared={webhook.declared} />
      </>
    }
    actions={<Actions webhook={webhook} />}
  >
    <div className="stack">
      {webhook.paused_reason && (
        <Notice tone="warn" title="It was paused automatically">
          {webhook.paused_reason}
        </Notice>
      )}
      <Card title="Webhook" flush>
        <Facts
          of={[
            ["State", <StateTag key="state" state={webhook.state} />],
            ["URL", <bdi key="url">{webhook.url}</bdi>],
            ["Types of changes", webhook.types.length > 0 ? webhook.types.join(", ") : "All"],
            ["Behind since", <Behind key="behind" webhook={webhook} />],
            [
              "Failing since",
              <Time key="failing" at={webhook.failing_since} absent="Nothing fails" />,
            ],
            ["Contacts", webhook.contact_emails || null],
            [
              "Previous secret",
              webhook.previous_secret_until && (
                <span key="previous">
                  Signs as well until <Time at={webhook.previous_secret_until} as="exact" />
                </span>
              ),
            ],
            ["Id", <Id key="id" value={webhook.id} />],
          ]}
        />
      </Card>
      <Deliveries id={webhook.id} />
      <DeadLetters id={webhook.id} />
    </div>
  </Page>
);

function Actions({ webhook }: ViewProps) {
  const { open, dialog } = useDialog();
  const { test, isTesting, setState, isSettingState } = useChangeWebhooks();
  const { id, name, state } = webhook;
  const isActive = state === "active";
  const sendTest = () => void test(id).then(tellAttempt).catch(tellFailed);
  const toggle = () =>
    void setState(id, isActive ? "paused" : "active")
      .then(() => tellDone(isActive ? `${name} is paused.` : `${name} resumes where it was.`))
      .catch(tellFailed);
  return (
    <>
      <PermittedButton
        needs="manage_external_integrations"
        leftSection={<Send size={14} />}
        loading={isTesting}
        onClick={sendTest}
      >
        Send a test
      </PermittedButton>
      <PermittedButton
        needs="admin"
        variant="default"
        leftSection={isActive ? <Pause size={14} /> : <Play size={14} />}
        loading={isSettingState}
        onClick={toggle}
      >
        {isActive ? "Pause" : "Resume"}
      </PermittedButton>
      <RowActions of={name} needs="admin">
        <Menu.Item onClick={() => open(<EditWebhook webhook={webhook} />)}>Edit…</Menu.Item>
        <Menu.Item onClick={() => open(<Rotate webhook={webhook} open={open} />)}>
          Rotate the secret…
        </Menu.Item>
        <Menu.Item onClick={() => open(<Replay webhook={webhook} />)}>Replay…</Menu.Item>
        <Menu.Item onClick={() => open(<Remove webhook={webhook} />)}>Remove…</Menu.Item>
      </RowActions>
      {dialog}
    </>
  );
}

function Remove({ webhook: { id, name } }: ViewProps) {
  const workspace = useWorkspace();
  const { remove } = useChangeWebhooks();
  const navigate = useNavigate();
  return (
    <Confirm
      title={`Remove ${name}`}
      action="Remove"
      run={async () => {
        await remove(id);
        await navigate({ to: "/w/$workspace/webhooks", params: { workspace } });
      }}
    >
      Its place in the change feed, its deliveries and its dead letters are removed with it.
    </Confirm>
  );
}
