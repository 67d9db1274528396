import { Button, Select, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download, ScrollText, ShieldCheck } from "lucide-react";
import { useState } from "react";
import {
  type AuditFilter,
  auditFilePath,
  useAudit,
  verifyAudit,
} from "../../api/administration.ts";
import { messageOf } from "../../api/api-error.ts";
import { filled } from "../../api/pages.ts";
import { originOf, whoOf } from "../../components/changed-by.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { PagedTable } from "../../components/loaded-table.tsx";
import { countText } from "../../components/numbers.ts";
import { Card } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Notice } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { startOfDay, Time } from "../../components/time.tsx";
import { deedOf, type Entry, EntryDetail, nounOf } from "./audit-entry.tsx";

const route = getRouteApi("/company/$section");

/** The address names only what is chosen. */
type Search = ReturnType<typeof route.useSearch>;

/** The filter that an address means. A day is that of the browser. */
const filterOf = ({ query, of = "changes", by, kind, from, to }: Search): AuditFilter =>
  filled({
    query,
    by,
    kind,
    since: startOfDay(from),
    until: startOfDay(to, 1),
    of: of === "changes" || of === "reads" ? of : undefined,
  });

export function Audit() {
  const search = route.useSearch();
  const [open, setOpen] = useState<string>();
  const filter = filterOf(search);
  const verify = useMutation({ mutationFn: verifyAudit });
  const isFiltered = Object.keys(filter).some((name) => name !== "of");
  return (
    <Card
      title="Audit log"
      about="Every change by a person, a manifest or an identity provider, who signed in, and who read personal data, newest first."
      flush
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            leftSection={<Download size={14} />}
            component="a"
            href={auditFilePath(filter)}
            download="audit.csv"
          >
            CSV
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<ShieldCheck size={14} />}
            loading={verify.isPending}
            onClick={() => verify.mutate()}
          >
            Verify
          </Button>
        </>
      }
    >
      <Verdict {...verify} />
      <Filters search={search} />
      <PagedTable
        from={useAudit(filter)}
        label="Audit log"
        columns={COLUMNS}
        rows={(page) => page.entries}
        keyOf={({ id }) => id}
        openKey={open}
        setOpen={setOpen}
        detail={(entry) => <EntryDetail entry={entry} />}
        empty={
          <Empty icon={ScrollText} title={isFiltered ? "Nothing like this" : "Nothing yet"}>
            {isFiltered && "Choose another person, thing or day."}
          </Empty>
        }
      />
    </Card>
  );
}

const KINDS = [
  "dashboard_user",
  "dashboard_session",
  "invitation",
  "permission_set",
  "api_key",
  "scim_token",
  "segment",
  "campaign",
  "canvas",
  "message",
  "preference_center",
  "subscription_group",
  "integration",
  "connection",
  "webhook",
  "app",
  "workspace",
  "settings",
] as const;

function Filters({ search }: { readonly search: Search }) {
  const navigate = route.useNavigate();
  const set = (change: Partial<Search>) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  return (
    <search className="toolbar card-toolbar">
      <SearchField
        label="Find things"
        placeholder="A part of the name of a thing or person"
        value={search.query}
        search={(query) => set({ query })}
      />
      <SearchField
        label="By"
        placeholder="Email address, or administrator"
        isFilter
        value={search.by}
        search={(by) => set({ by })}
      />
      <Select
        allowDeselect
        label="Thing"
        placeholder="All"
        clearable
        searchable
        w="12rem"
        value={search.kind ?? null}
        data={KINDS.map((value) => ({ value, label: sentence(nounOf(value)) }))}
        onChange={(kind) => set({ kind: kind ?? "" })}
      />
      <TextInput
        label="From"
        type="date"
        value={search.from ?? ""}
        onChange={(event) => set({ from: event.currentTarget.value })}
      />
      <TextInput
        label="To"
        type="date"
        value={search.to ?? ""}
        onChange={(event) => set({ to: event.currentTarget.value })}
      />
      <Select
        label="Changes or reads"
        w="13rem"
        value={search.of ?? "changes"}
        data={[
          { value: "changes", label: "Changes" },
          { value: "reads", label: "Reads of personal data" },
          { value: "all", label: "Changes and reads" },
        ]}
        onChange={(of) => set({ of: of ?? "" })}
      />
    </search>
  );
}

interface VerdictProps {
  readonly data: Awaited<ReturnType<typeof verifyAudit>>;
  readonly error: unknown;
}

/** The result of the check of the whole chain. */
function Verdict({ data, error }: VerdictProps) {
  if (!data && !error) return null;
  return (
    <div className="card-body">
      {error ? <Notice tone="bad">{messageOf(error)}</Notice> : null}
      {data && (
        <Notice tone={data.intact ? "good" : "bad"}>
          {data.intact
            ? `Intact: none of ${countText(data.entries)} entries was changed or removed.`
            : `Broken at entry ${data.broken_at?.position}.`}
        </Notice>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  column("Change", (entry) => (
    <>
      {deedOf(entry)} <bdi className="dim">{entry.label ?? entry.name}</bdi>
    </>
  )),
  column(
    "Workspace",
    { width: "16%" },
    ({ workspace }) => workspace ?? <span className="dim">Company</span>,
  ),
  column("By", { width: "22%" }, (entry) => (
    <>
      <bdi>{whoOf(entry)}</bdi>
      <div className="dim">{originOf(entry)}</div>
    </>
  )),
  column("When", { width: "8.5rem" }, ({ at }) => <Time at={at} />),
];
