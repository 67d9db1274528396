import { Menu, Select, Tabs, TextInput } from "@mantine/core";
import { useDebouncedValue, useHotkeys } from "@mantine/hooks";
import { getRouteApi, useBlocker, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useWorkspace } from "../../api/workspace.ts";
import { Id } from "../../components/code-block.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { Closing, useDialog } from "../../components/dialog.tsx";
import { PageLink } from "../../components/feature-link.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { Page } from "../../components/page.tsx";
import { partOf } from "../../components/part.tsx";
import { PermittedButton, PermittedItem, useMissing } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Loaded, Loading, Notice } from "../../components/states.tsx";
import { StateTag } from "../../components/tag.tsx";
import {
  type CenterBody,
  createPreviewLink,
  type PageFault,
  useCenter,
  useChangeCenters,
  usePreview,
} from "./api.ts";
import { PreviewFrame, type Shown } from "./preview-frame.tsx";
import { Texts } from "./texts.tsx";

const route = getRouteApi("/w/$workspace/preference-centers/$id");

// The editor is as large as the rest of the page: it loads separately.
const CodeEditor = partOf(
  async () => (await import("../../components/code-editor.tsx")).CodeEditor,
  <Loading lines={12} />,
);

export function CenterPage() {
  const { id } = route.useParams();
  const center = useCenter(id);
  return (
    <Loaded from={center} lines={12} page="Preference center">
      {({ title, name, state, page_html, confirmation_html, redirect_url, locale, ...more }) => (
        <Editor
          key={id}
          id={id}
          stored={{
            name,
            title,
            state,
            page_html,
            confirmation_html,
            redirect_url,
            locale,
            options: more.options as NonNullable<CenterBody["options"]>,
            translations: more.translations,
          }}
        />
      )}
    </Loaded>
  );
}

const EDITED = { page: "page_html", confirmation: "confirmation_html" } as const;

type Tab = "page" | "confirmation" | "texts" | "settings";

/** How long typing rests before the preview follows. */
const REST_MS = 400;

function Editor({ id, stored }: { readonly id: string; readonly stored: CenterBody }) {
  const [center, setCenter] = useState(stored);
  const [saved, setSaved] = useState(stored);
  const [tab, setTab] = useState<Tab>("page");
  const { open, dialog } = useDialog();
  const [shown, setShown] = useState<Shown>({ externalId: "", locale: "", screen: "wide" });
  const { put, isSaving } = useChangeCenters();
  const [wanted] = useDebouncedValue(center, REST_MS);
  const [reader] = useDebouncedValue(shown.externalId.trim(), REST_MS);
  const missing = useMissing(["basic_access", "view_pii"]);
  const preview = usePreview(id, missing === undefined ? wanted : undefined, {
    page: tab === "confirmation" ? "confirmation" : "page",
    ...(reader && { external_id: reader }),
    ...(shown.locale && { locale: shown.locale }),
  });
  const set = (change: Partial<CenterBody>) => setCenter((now) => ({ ...now, ...change }));
  const save = async (change: Partial<CenterBody> = {}) => {
    const changed = { ...center, ...change };
    try {
      await put(id, changed);
      set(change);
      setSaved(changed);
      tellDone(`Saved ${changed.name}.`);
    } catch (error) {
      tellFailed(error);
    }
  };
  const faults = preview.data?.faults ?? NO_FAULTS;
  const isDraft = center.state === "draft";
  const isChanged = !isSame(center, saved);
  const askToWithdraw = () =>
    open(
      <Confirm
        title={`Make ${center.name} a draft`}
        action="Make it a draft"
        run={() => save({ state: "draft" })}
      >
        Users who open their links see a page that says that it is not available, until you publish
        it again. What they chose is kept.
      </Confirm>,
    );
  // Also while the code has the focus, which is an editable text.
  useHotkeys([["mod+S", () => void save()]], [], true);
  return (
    <Page
      title={center.name}
      about={
        <>
          <PageLink to="/w/$workspace/preference-centers">Preference centers</PageLink>
          {" / "}
          <Id value={id} /> <StateTag state={saved.state ?? "active"} />
        </>
      }
      actions={
        <>
          {isChanged && <span className="dim">Unsaved changes</span>}
          <PermittedButton
            needs="manage_email_settings"
            variant="default"
            onClick={() => (isDraft ? void save({ state: "active" }) : askToWithdraw())}
          >
            {isDraft ? "Save and publish" : "Make it a draft…"}
          </PermittedButton>
          <PermittedButton
            needs="manage_email_settings"
            loading={isSaving}
            disabled={!isChanged}
            onClick={() => void save()}
          >
            Save
          </PermittedButton>
          <More id={id} name={center.name} />
        </>
      }
    >
      <div className="editing">
        <div className="stack">
          <Tabs value={tab} onChange={(next) => setTab((next ?? "page") as Tab)}>
            <Tabs.List className="tabs-list">
              <Tabs.Tab value="page">Page</Tabs.Tab>
              <Tabs.Tab value="confirmation">Confirmation</Tabs.Tab>
              <Tabs.Tab value="texts">Languages</Tabs.Tab>
              <Tabs.Tab value="settings">Settings</Tabs.Tab>
            </Tabs.List>
          </Tabs>
          {(tab === "page" || tab === "confirmation") && (
            <PageEditor key={tab} field={EDITED[tab]} center={center} faults={faults} set={set} />
          )}
          {tab === "texts" && (
            <Texts
              translations={center.translations ?? {}}
              onChange={(translations) => set({ translations })}
            />
          )}
          {tab === "settings" && <Settings center={center} set={set} />}
          <Faults faults={faults} />
        </div>
        <PreviewFrame
          id={id}
          html={preview.data?.html}
          missing={missing}
          error={preview.error}
          shown={shown}
          setShown={setShown}
          locales={[center.locale ?? "en", ...Object.keys(center.translations ?? {})]}
        />
      </div>
      <Leaving isChanged={isChanged} />
      {dialog}
    </Page>
  );
}

const isSame = (one: CenterBody, other: CenterBody): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** Asks before unsaved changes are lost. */
function Leaving({ isChanged }: { readonly isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => isChanged,
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  if (status !== "blocked") return null;
  return (
    <Closing value={reset}>
      <Confirm title="Leave without saving?" action="Discard changes" run={async () => proceed()}>
        What you changed on this page is not saved yet.
      </Confirm>
    </Closing>
  );
}

const NO_FAULTS: readonly PageFault[] = [];

interface PageEditorProps {
  readonly field: "page_html" | "confirmation_html";
  readonly center: CenterBody;
  readonly faults: readonly PageFault[];
  set(change: Partial<CenterBody>): void;
}

function PageEditor({ field, center, faults, set }: PageEditorProps) {
  const here = useMemo(() => faults.filter((fault) => fault.field === field), [faults, field]);
  return (
    <CodeEditor
      label={field === "page_html" ? "HTML of the page" : "HTML of the confirmation"}
      initial={center[field] ?? ""}
      faults={here}
      onChange={(text) => set({ [field]: text })}
    />
  );
}

/** The faults in words too, for people who do not see the marks in the code. */
const Faults = ({ faults }: { readonly faults: readonly PageFault[] }) =>
  faults.map(({ severity, message }) => (
    <Notice key={message} tone={severity === "error" ? "bad" : "warn"}>
      {message}
    </Notice>
  ));

interface SettingsProps {
  readonly center: CenterBody;
  set(change: Partial<CenterBody>): void;
}

const Settings = ({ center, set }: SettingsProps) => (
  <div className="stack">
    <TextInput
      label="Name"
      value={center.name}
      onChange={(event) => set({ name: event.currentTarget.value })}
    />
    <TextInput
      label="Title"
      description="The title of the pages, in the window of the browser."
      value={center.title ?? ""}
      onChange={(event) => set({ title: event.currentTarget.value })}
    />
    <TextInput
      label="Language of the pages"
      placeholder="en"
      value={center.locale ?? ""}
      onChange={(event) => set({ locale: event.currentTarget.value })}
    />
    <TextInput
      label="Redirect"
      description="The page for users after they have chosen, instead of the confirmation."
      placeholder="https://example.com/thanks"
      value={center.redirect_url ?? ""}
      onChange={(event) => set({ redirect_url: event.currentTarget.value || null })}
    />
    <Select
      label="State"
      data={[
        { value: "active", label: "Active" },
        { value: "draft", label: "Draft: not shown to users" },
      ]}
      value={center.state ?? "active"}
      onChange={(state) => set({ state: state === "draft" ? "draft" : "active" })}
    />
  </div>
);

/** The saved page with a sample user, for ten minutes. */
async function copyPreviewLink(workspace: string, id: string): Promise<void> {
  try {
    const url = await createPreviewLink(workspace, id);
    await navigator.clipboard.writeText(url);
    tellDone("Copied a link to the saved page. It works for ten minutes, without signing in.");
  } catch (error) {
    tellFailed(error);
  }
}

/** A link for people without the dashboard, and the end of the center. */
function More({ id, name }: { readonly id: string; readonly name: string }) {
  const workspace = useWorkspace();
  const { remove } = useChangeCenters();
  const navigate = useNavigate();
  const { open, dialog } = useDialog();
  const askToRemove = () =>
    open(
      <Confirm
        title={`Remove ${name}`}
        action="Remove"
        typed={name}
        run={async () => {
          await remove(id);
          await navigate({
            to: "/w/$workspace/preference-centers",
            params: { workspace },
            // Unsaved changes are lost with the center.
            ignoreBlocker: true,
          });
        }}
      >
        Its links stop working. What users chose is kept.
      </Confirm>,
    );
  return (
    <>
      <RowActions of={name}>
        <Menu.Item onClick={() => void copyPreviewLink(workspace, id)}>
          Copy a preview link
        </Menu.Item>
        <PermittedItem needs="manage_email_settings" onClick={askToRemove}>
          Remove…
        </PermittedItem>
      </RowActions>
      {dialog}
    </>
  );
}
