import { Button, Select } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ScrollText, ShieldCheck } from "lucide-react";
import { useMemo, useState } from "react";
import { useAudit, verifyAudit } from "../../api/administration.ts";
import { messageOf } from "../../api/api-error.ts";
import { morePages } from "../../api/pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Json } from "../../components/json.tsx";
import { Card } from "../../components/page.tsx";
import { RowButton } from "../../components/row-button.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

const route = getRouteApi("/company/$section");

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly workspace: string | null;
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly address: string | null;
}

export function Audit() {
  const { query: name, of = "changes" } = route.useSearch();
  const navigate = route.useNavigate();
  const [open, setOpen] = useState<string>();
  const pages = useAudit({
    ...(name && { name }),
    ...((of === "changes" || of === "reads") && { of }),
  });
  const verify = useMutation({ mutationFn: verifyAudit });
  const entries = useMemo(
    () => pages.data?.pages.flatMap((page) => page.entries) ?? [],
    [pages.data],
  );
  const columns = useMemo(() => columnsOf(open, setOpen), [open]);
  return (
    <Card
      title="Audit log"
      about="Every change by an administrator, a manifest or an identity provider, and who read personal data, newest first."
      flush
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<ShieldCheck size={14} />}
          loading={verify.isPending}
          onClick={() => verify.mutate()}
        >
          Verify
        </Button>
      }
    >
      <Verdict {...verify} />
      <search className="toolbar card-toolbar">
        <SearchField
          label="Only changes of"
          placeholder="The whole name or id of what was changed"
          value={name}
          search={(wanted) =>
            void navigate({ search: (now) => ({ ...now, query: wanted }), replace: true })
          }
        />
        <Select
          aria-label="Changes or reads"
          w="13rem"
          allowDeselect={false}
          value={of}
          data={[
            { value: "changes", label: "Changes" },
            { value: "reads", label: "Reads of personal data" },
            { value: "all", label: "Changes and reads" },
          ]}
          onChange={(next) =>
            void navigate({ search: (now) => ({ ...now, of: next ?? "" }), replace: true })
          }
        />
      </search>
      <Loaded from={pages}>
        {() => (
          <DataTable
            label="Audit log"
            columns={columns}
            rows={entries}
            keyOf={({ id }) => id}
            more={morePages(pages)}
            openKey={open}
            detail={(entry) => <Json value={entry} label="Entry" />}
            empty={
              <Empty icon={ScrollText} title={name ? `Nothing about “${name}”` : "Nothing yet"}>
                {name && "The search compares whole names and ids, with upper and lower case."}
              </Empty>
            }
          />
        )}
      </Loaded>
    </Card>
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
            ? `Intact: none of ${data.entries.toLocaleString("en")} entries was changed or removed.`
            : `Broken at entry ${data.broken_at?.position}.`}
        </Notice>
      )}
    </div>
  );
}

const columnsOf = (
  open: string | undefined,
  setOpen: (id: string | undefined) => void,
): readonly Column<Entry>[] => [
  {
    id: "what",
    header: "Change",
    cell: ({ row: { original: entry } }) => (
      <RowButton
        isOpen={entry.id === open}
        onClick={() => setOpen(entry.id === open ? undefined : entry.id)}
      >
        {sentence(entry.action)} {entry.kind.replaceAll("_", " ")}{" "}
        <bdi className="dim">{entry.name}</bdi>
      </RowButton>
    ),
  },
  {
    id: "workspace",
    header: "Workspace",
    meta: { width: "16%" },
    cell: ({ row }) => row.original.workspace ?? <span className="dim">Company</span>,
  },
  {
    id: "actor",
    header: "By",
    meta: { width: "22%" },
    cell: ({ row: { original: entry } }) => (
      <>
        {entry.actor_name ?? sentence(entry.actor)}
        {entry.address && <div className="dim">{entry.address}</div>}
      </>
    ),
  },
  {
    id: "at",
    header: "When",
    meta: { width: "8.5rem" },
    cell: ({ row }) => (
      <span className="above">
        <Time at={row.original.at} />
      </span>
    ),
  },
];
