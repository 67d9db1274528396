import { Button, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Languages } from "lucide-react";
import { useCampaigns, useCanvases } from "../../api/messages.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Id } from "../../components/code-block.tsx";
import { Page } from "../../components/page.tsx";
import { PageTabs } from "../../components/page-tabs.tsx";
import { Empty, Loaded, Loading } from "../../components/states.tsx";
import { channelName } from "../../components/tag.tsx";
import { Files } from "./files.tsx";
import { Locales } from "./locales.tsx";
import { type ListedMessage, messagesOf } from "./messages-of.ts";
import { Strings } from "./strings.tsx";

const route = getRouteApi("/w/$workspace/translations");

export function TranslationsPage() {
  const { tab = "messages" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title="Translations" about="The strings of messages, in every locale of this workspace.">
      <PageTabs
        tabs={[
          ["messages", "Messages"],
          ["locales", "Locales"],
        ]}
        shown={tab}
        show={(next) => void navigate({ search: { tab: next }, replace: true })}
      >
        {tab === "locales" ? <Locales /> : <Messages />}
      </PageTabs>
    </Page>
  );
}

function Messages() {
  const campaigns = useCampaigns();
  const canvases = useCanvases();
  if (campaigns.isPending || canvases.isPending) return <Loading />;
  return (
    <Loaded from={campaigns}>
      {({ campaigns: some }) => (
        <Loaded from={canvases}>
          {({ canvases: others }) => <Chosen messages={messagesOf(some, others)} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function Chosen({ messages }: { readonly messages: readonly ListedMessage[] }) {
  const workspace = useWorkspace();
  const { message } = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = messages.find(({ id }) => id === message) ?? messages[0];
  if (!chosen) {
    return (
      <Empty
        isFramed
        icon={Languages}
        title="No messages yet"
        action={
          <Button
            mt="xs"
            variant="default"
            onClick={() => void navigate({ to: "/w/$workspace/campaigns", params: { workspace } })}
          >
            Go to campaigns
          </Button>
        }
      >
        Messages of campaigns and canvases have strings to translate. Add one there, or declare it
        in a manifest.
      </Empty>
    );
  }
  return (
    <>
      <div className="toolbar">
        <Select
          className="grow"
          label="Message"
          searchable
          value={chosen.id}
          data={messages.map(({ id, of, channel }) => ({
            value: id,
            label: `${of} · ${channelName(channel)}`,
          }))}
          onChange={(id) => void navigate({ search: (now) => ({ ...now, message: id ?? "" }) })}
        />
        <Files key={chosen.id} message={chosen} />
      </div>
      <p className="below-toolbar">
        <span className="dim">Message id</span> <Id value={chosen.id} />
      </p>
      <Strings key={chosen.id} id={chosen.id} />
    </>
  );
}
