import { Webhook as WebhookIcon } from "lucide-react";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { List } from "../../components/list.tsx";
import { StateTag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { useWebhooks, type Webhook } from "./api.ts";
import { Behind } from "./behind.tsx";
import { EditWebhook } from "./edit-webhook.tsx";

export function WebhooksPage() {
  const { open, dialog } = useDialog();
  return (
    <List
      isPage
      title="Webhooks"
      about="Where to deliver changes of users, in order and signed, with retries until they are accepted."
      icon={WebhookIcon}
      purpose="A webhook sends each change of a user to a URL of yours, as it happens."
      needs="admin"
      adds="Add a webhook"
      add={() => open(<EditWebhook open={open} />)}
      from={useWebhooks()}
      columns={COLUMNS}
      rows={(body) => body.webhooks}
      keyOf={({ id }) => id}
      opens
    >
      {dialog}
    </List>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  column("Webhook", { sortBy: "name" }, (each) => (
    <DeclaredName of={each} page="/w/$workspace/webhooks/$id" id={each.id} />
  )),
  column("URL", { sortBy: "url", oneLine: true }, ({ url }) => <bdi className="dim">{url}</bdi>),
  column("Behind since", { width: "10rem" }, (each) => <Behind webhook={each} />),
  column("State", { width: "32%" }, (each) => (
    <>
      <StateTag state={each.state} />
      {each.paused_reason && (
        <div className="dim">
          <bdi>{each.paused_reason}</bdi>
        </div>
      )}
      {each.failing_since && (
        <div className="dim above">
          Failing since <Time at={each.failing_since} />
        </div>
      )}
    </>
  )),
];
