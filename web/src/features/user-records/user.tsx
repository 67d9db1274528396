import { Button, Menu } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { ChevronDown, Download, Merge, Trash2 } from "lucide-react";
import { type ComponentType, useState } from "react";
import { fullNameOf, nameOf } from "../../api/name-of.ts";
import { exportUser, type Profile, profileOf, useUser } from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { CopyText } from "../../components/code-block.tsx";
import { Closing, useDialog } from "../../components/dialog.tsx";
import { download } from "../../components/download.ts";
import { PageLink, useHasPage } from "../../components/feature-link.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { Page } from "../../components/page.tsx";
import { PageTabs } from "../../components/page-tabs.tsx";
import { partOf } from "../../components/part.tsx";
import { PermittedItem } from "../../components/permitted.tsx";
import { Loaded, Loading, Notice } from "../../components/states.tsx";
import { Attributes } from "./attributes.tsx";
import { CHANGE_USERS } from "./change-users.ts";
import { Devices } from "./devices.tsx";
import { Identity } from "./identity.tsx";
import { SegmentsOfUser } from "./segments-of-user.tsx";
import { Subscriptions } from "./subscriptions.tsx";
import { Summary } from "./summary.tsx";
import type { TabProps } from "./tab.ts";
import { Timeline } from "./timeline.tsx";
import { Totals } from "./totals.tsx";

const route = getRouteApi("/w/$workspace/users/$id");

const MergeUser = partOf(
  async () => (await import("./merge-user.tsx")).MergeUser,
  <Loading lines={1} />,
);
const UndoMerge = partOf(
  async () => (await import("./undo-merge.tsx")).UndoMerge,
  <Loading lines={1} />,
);
const EraseUser = partOf(
  async () => (await import("./erase-user.tsx")).EraseUser,
  <Loading lines={1} />,
);

type UserViewProps = Omit<TabProps, "profile">;

const TABS = [
  ["timeline", "Timeline", Timeline],
  ["totals", "Totals", Totals],
  ["attributes", "Attributes", Attributes],
  ["subscriptions", "Subscriptions", Subscriptions],
  ["segments", "Segments", SegmentsOfUser],
  ["identity", "Identity", Identity],
  ["devices", "Devices and apps", Devices],
] as const satisfies readonly (readonly [string, string, ComponentType<TabProps>])[];

export function UserPage() {
  const { id } = route.useParams();
  return (
    <Loaded from={useUser(id)} lines={12} page="User">
      {(record) => <UserView id={id} record={record} />}
    </Loaded>
  );
}

function UserView({ id, record }: UserViewProps) {
  const { tab: asked = "timeline", undo } = route.useSearch();
  const hasSegments = useHasPage("/w/$workspace/segments/$id");
  const tabs = TABS.filter(([value]) => value !== "segments" || hasSegments);
  // A link may name a tab that this server does not have.
  const [tab, , Content] = tabs.find(([value]) => value === asked) ?? TABS[0];
  const navigate = route.useNavigate();
  const profile = profileOf(record);
  const kept = profile.platform_id;
  const [fullName, name] = [fullNameOf(profile), nameOf(profile)];
  return (
    <Page
      title={fullName || name}
      about={
        <>
          <PageLink to="/w/$workspace/users">Users</PageLink>
          {fullName && name !== kept && (
            <>
              {" / "}
              <bdi>{name}</bdi>
            </>
          )}
          {" / "}
          <span className="mono">{kept}</span> <CopyText text={kept} label="Copy the platform id" />
        </>
      }
      actions={<Actions profile={profile} />}
    >
      <div className="stack">
        {kept !== id && (
          <Notice title="This user was merged">{id} identifies this user, who was kept.</Notice>
        )}
        <Summary record={record} />
        {undo && (
          <Closing value={() => void navigate({ search: { tab }, replace: true })}>
            <UndoMerge id={undo} />
          </Closing>
        )}
        <PageTabs
          tabs={tabs.map(([value, label]) => [value, label])}
          shown={tab}
          show={(next) => void navigate({ search: { tab: next }, replace: true })}
        >
          <Content id={kept} record={record} profile={profile} />
        </PageTabs>
      </div>
    </Page>
  );
}

function Actions({ profile }: { readonly profile: Profile }) {
  const workspace = useWorkspace();
  const { open, dialog } = useDialog();
  const [isExporting, setExporting] = useState(false);
  const { platform_id: id } = profile;
  const save = async () => {
    setExporting(true);
    try {
      const all = await exportUser(workspace, id);
      download(`${id}.json`, JSON.stringify(all, null, 2), "application/json");
      tellDone("Exported everything that is stored about this user.");
    } catch (error) {
      tellFailed(error);
    } finally {
      setExporting(false);
    }
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={14} />} loading={isExporting}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <PermittedItem
            needs="export_user_data"
            leftSection={<Download size={14} />}
            onClick={() => void save()}
          >
            Export as JSON
          </PermittedItem>
          <PermittedItem
            needs={CHANGE_USERS}
            leftSection={<Merge size={14} />}
            onClick={() => open(<MergeUser profile={profile} />)}
          >
            Merge into another user…
          </PermittedItem>
          <Menu.Divider />
          <PermittedItem
            needs="import_update_user_data"
            leftSection={<Trash2 size={14} />}
            onClick={() => open(<EraseUser profile={profile} />)}
          >
            Erase…
          </PermittedItem>
        </Menu.Dropdown>
      </Menu>
      {dialog}
    </>
  );
}
