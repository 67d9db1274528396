import { Textarea, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Pencil, Plus, Search } from "lucide-react";
import { useChangeUser } from "../../api/users.ts";
import { useDialog } from "../../components/dialog.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { Json, shortValue, valueIn } from "../../components/json.tsx";
import { Absent, Card, Facts } from "../../components/page.tsx";
import { PermittedButton, PermittedIcon } from "../../components/permitted.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { CHANGE_USERS } from "./change-users.ts";
import type { TabProps } from "./tab.ts";

/** Fields of the export that other tabs show, or that are derived. */
const ELSEWHERE = new Set([
  "platform_id",
  "braze_id",
  "external_id",
  "user_aliases",
  "created_at",
  "random_bucket",
  "custom_attributes",
  "custom_events",
  "purchases",
  "total_revenue",
  "revenue_by_currency",
  "subscription_groups",
  "apps",
  "devices",
  "push_tokens",
  "merged_ids",
  "message_history",
  "recent_activity",
  "email_subscribe",
  "engagement_times",
  "campaigns_received",
  "canvases_received",
  "cards_clicked",
  "last_coordinates",
]);

const route = getRouteApi("/w/$workspace/users/$id");

export function Attributes({ profile }: TabProps) {
  const { open, dialog } = useDialog();
  const { find } = route.useSearch();
  const navigate = route.useNavigate();
  const all = Object.entries(profile.custom_attributes);
  const custom = all.filter(isFound(find)).sort(([one], [other]) => one.localeCompare(other, "en"));
  const standard = Object.entries(profile)
    .filter(([name]) => !ELSEWHERE.has(name))
    .filter(isFound(find));
  const ask = (name: string, value: unknown) =>
    open(<EditAttribute id={profile.platform_id} name={name} value={value} />);
  const edit = (name: string, value: unknown) => (
    <PermittedIcon needs={CHANGE_USERS} label={`Edit ${name}`} onClick={() => ask(name, value)}>
      <Pencil size={13} />
    </PermittedIcon>
  );
  const line = ([name, value]: [string, unknown], title: string) =>
    [
      title,
      <div key={name} className="spread">
        <Value value={value} name={name} />
        {edit(name, value)}
      </div>,
    ] as const;
  return (
    <div className="stack">
      {(all.length > FEW || find) && (
        <SearchField
          label="Find an attribute"
          placeholder="A part of a name or value"
          value={find}
          search={(wanted) =>
            void navigate({ search: (now) => ({ ...now, find: wanted }), replace: true })
          }
        />
      )}
      <Card
        title="Custom attributes"
        flush
        actions={
          <PermittedButton
            needs={CHANGE_USERS}
            size="xs"
            variant="default"
            leftSection={<Plus size={14} />}
            onClick={() => ask("", "")}
          >
            Set an attribute
          </PermittedButton>
        }
      >
        {custom.length > 0 && <Facts of={custom.map((each) => line(each, each[0]))} />}
        {custom.length === 0 && all.length > 0 && (
          <Empty icon={Search} title="No custom attribute matches" />
        )}
        {all.length === 0 && (
          <Empty icon={Plus} title="No custom attributes">
            A name that is not a standard attribute becomes a custom one, set here or sent to
            /users/track.
          </Empty>
        )}
      </Card>
      <Card title="Standard attributes" flush>
        <Facts of={standard.map((each) => line(each, sentence(each[0])))} />
      </Card>
      {dialog}
    </div>
  );
}

/** With more of them, a person searches. */
const FEW = 12;

/** Whether the name or the value of an attribute has a text in it. */
const isFound =
  (find = "") =>
  ([name, value]: readonly [string, unknown]): boolean =>
    [name, sentence(name), shortValue(value ?? "")].some((text) =>
      text.toLowerCase().includes(find.toLowerCase()),
    );

const ISO_DAY = /^\d{4}-\d\d-\d\d$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

function Value({ value, name }: { readonly value: unknown; readonly name: string }) {
  if (value === null || value === undefined) return <Absent />;
  if (typeof value === "object") return <Json value={value} label={name} />;
  const text = shortValue(value);
  if (ISO_DAY.test(text)) return <Time at={`${text}T00:00`} as="day" />;
  if (ISO_TIME.test(text)) return <Time at={text} as="exact" />;
  return (
    <span className="attribute" dir="auto">
      {text}
    </span>
  );
}

interface EditAttributeProps {
  readonly id: string;
  /** Empty for a new one. */
  readonly name: string;
  readonly value: unknown;
}

function EditAttribute({ id, name, value }: EditAttributeProps) {
  const change = useChangeUser(id);
  const isNew = name === "";
  return (
    <FormDialog
      title={isNew ? "Set an attribute" : `Edit ${name}`}
      initial={{ name, value: isNew ? "" : written(value) }}
      validate={{ name: required }}
      save={async (values) => {
        const set = values.name.trim();
        await change({ [set]: readValue(values.value) });
        tellDone(`Set ${set}.`);
      }}
    >
      {(form) => (
        <>
          {isNew && <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />}
          <Textarea
            label="Value"
            description="A text, a number, true, false or JSON. Empty removes the attribute; quotes keep a number a text."
            autosize
            minRows={2}
            maxRows={16}
            data-autofocus={!isNew}
            {...form.getInputProps("value")}
          />
        </>
      )}
    </FormDialog>
  );
}

/** The text to type for a stored value: reading it back gives the same value. */
const written = (value: unknown): string => {
  if (value === null || value === undefined) return "";
  return typeof value === "string" && readValue(value) === value
    ? value
    : JSON.stringify(value, null, 2);
};

/** The typed value: JSON if it is JSON, null if it is empty, and a text otherwise. */
const readValue = (text: string): unknown => (text.trim() === "" ? null : valueIn(text));
