import { Group, NumberInput, Select, Stack, Switch, TagsInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { PERMISSIONS } from "../../../../src/core/base/context/permissions.ts";
import { useChangeSettings, useSettings } from "../../api/administration.ts";
import type { Schemas } from "../../api/client.ts";
import { actions, type Column, column, DataTable } from "../../components/data-table.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, SaveFailure } from "../../components/form.tsx";
import { countText } from "../../components/numbers.ts";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { Loaded } from "../../components/states.tsx";
import { ZONES } from "../../components/time.tsx";

type Settings = Schemas["WorkspaceSettings"];
type Limit = Schemas["RateLimit"];

/** The numeric settings, what they limit, and the meaning of an empty field. */
const NUMBERS = [
  ["track_max_updates", "Objects per track request", "50"],
  ["profile_max_bytes", "Bytes of a user's custom attributes", "1,048,576"],
  ["max_attribute_names", "Names of custom attributes", "5,000"],
  ["max_event_names", "Names of events", "5,000"],
  ["max_users", "Users (0: unlimited)", "0"],
  ["keep_events_days", "Days that events are kept (0: forever)", "0"],
  ["keep_purchases_days", "Days that purchases are kept (0: forever)", "0"],
  ["keep_row_log_days", "Days that rejected rows of syncs are listed", "30"],
  ["undo_days", "Days that a merge of users can be undone (0: never)", "30"],
] as const;

export function Limits() {
  const settings = useSettings();
  return (
    <Loaded from={settings}>
      {(body) => (
        <div className="stack">
          <SettingsForm settings={body.settings} />
          <RateLimits settings={body.settings} />
        </div>
      )}
    </Loaded>
  );
}

interface PartProps {
  readonly settings: Settings;
}

function SettingsForm({ settings }: PartProps) {
  const change = useChangeSettings();
  const form = useForm<Record<string, unknown>>({
    initialValues: {
      ...Object.fromEntries(NUMBERS.map(([name]) => [name, settings[name] ?? ""])),
      intake: settings.intake ?? "strict",
      time_zone: settings.time_zone ?? "UTC",
      blocked_external_ids: settings.blocked_external_ids ?? [],
      page_image_hosts: settings.page_image_hosts ?? [],
      multi_language: settings.multi_language ?? false,
      redirect_merged_ids: settings.redirect_merged_ids ?? false,
    },
  });
  const saving = useMutation({
    mutationFn: (values: Record<string, unknown>) =>
      // A field that is empty returns to its default.
      change(
        Object.fromEntries(
          Object.entries(values)
            .filter(([name]) => form.isDirty(name))
            .map(([name, value]) => [name, value === "" ? null : value]),
        ),
      ),
    onSuccess: () => tellDone("Saved the settings."),
  });
  return (
    <Card
      title="Limits and intake"
      about="The limits of this workspace's requests, and how long data is kept."
    >
      <form onSubmit={form.onSubmit((values) => saving.mutate(values))}>
        <Stack>
          <SaveFailure error={saving.error} />
          <div className="fields">
            {NUMBERS.map(([name, label, standard]) => (
              <NumberInput
                key={name}
                label={label}
                placeholder={`${standard} by default`}
                min={0}
                allowDecimal={false}
                thousandSeparator=","
                {...form.getInputProps(name)}
              />
            ))}
            <Select
              label="Intake"
              description="Whether a wrong attribute refuses the whole object, or is left out."
              data={[
                { value: "strict", label: "Strict: refuse the object" },
                { value: "lenient", label: "Lenient: leave it out" },
              ]}
              {...form.getInputProps("intake")}
            />
            <Select
              label="Time zone"
              description="Days of the overview begin at its midnight."
              searchable
              limit={50}
              data={[...new Set([...ZONES, String(settings.time_zone ?? "UTC")])]}
              {...form.getInputProps("time_zone")}
            />
          </div>
          <TagsInput
            label="Blocked external ids"
            description="Such as null or test: requests that name them are refused."
            {...form.getInputProps("blocked_external_ids")}
          />
          <TagsInput
            label="Hosts of pictures on preference pages"
            description="Such as cdn.acme.example or *.acme.example; * for any. They learn what pages put into addresses."
            {...form.getInputProps("page_image_hosts")}
          />
          <Switch
            label="Messages may have translations (multi-language)"
            {...form.getInputProps("multi_language", { type: "checkbox" })}
          />
          <Switch
            label="External ids of merged users identify the kept user"
            {...form.getInputProps("redirect_merged_ids", { type: "checkbox" })}
          />
          <Group justify="flex-end">
            <PermittedButton needs="admin" type="submit" loading={saving.isPending}>
              Save
            </PermittedButton>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

interface Row {
  readonly permission: string;
  readonly limit: Limit | undefined;
}

function RateLimits({ settings }: PartProps) {
  const { open, dialog } = useDialog();
  const limits = (settings.rate_limits ?? {}) as Readonly<Record<string, Limit>>;
  const rows = PERMISSIONS.map((permission) => ({ permission, limit: limits[permission] }));
  return (
    <Card
      title="Rate limits"
      about="How many requests each permission of an API key allows. Beyond that they get 429."
      flush
    >
      <DataTable
        label="Rate limits"
        columns={columnsOf((row) => open(<EditLimit {...row} />))}
        rows={rows}
        keyOf={({ permission }) => permission}
      />
      {dialog}
    </Card>
  );
}

function EditLimit({ permission, limit }: Row) {
  const change = useChangeSettings();
  const { requests, per_seconds } = typeof limit === "object" ? limit : DEFAULT;
  return (
    <FormDialog
      title={`Rate limit of ${permission}`}
      initial={{ kind: kindOf(limit), requests, per_seconds }}
      save={({ kind, ...own }) => {
        const set = kind === "default" ? null : kind === "off" ? kind : own;
        return change({ rate_limits: { [permission]: set } });
      }}
    >
      {(form) => (
        <>
          <Select
            label="Limit"
            data={[
              { value: "default", label: "The default" },
              { value: "own", label: "Its own" },
              { value: "off", label: "No limit" },
            ]}
            {...form.getInputProps("kind")}
          />
          {form.getValues().kind === "own" && (
            <Group grow>
              <NumberInput label="Requests" min={1} {...form.getInputProps("requests")} />
              <NumberInput label="Per seconds" min={1} {...form.getInputProps("per_seconds")} />
            </Group>
          )}
        </>
      )}
    </FormDialog>
  );
}

const DEFAULT = { requests: 1_000, per_seconds: 60 };

const kindOf = (limit: Limit | undefined): string =>
  limit === undefined ? "default" : limit === "off" ? "off" : "own";

const columnsOf = (edit: (row: Row) => void): readonly Column<Row>[] => [
  column("Permission", ({ permission }) => permission),
  column("Limit", (row) => {
    if (row.limit === undefined) return <span className="dim">Default</span>;
    if (row.limit === "off") return "No limit";
    return `${countText(row.limit.requests)} in ${row.limit.per_seconds} s`;
  }),
  actions("5.5rem", (each) => (
    <PermittedButton
      needs="admin"
      variant="subtle"
      size="compact-xs"
      aria-label={`Edit the limit of ${each.permission}`}
      onClick={() => edit(each)}
    >
      Edit
    </PermittedButton>
  )),
];
