import { Button } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Lock, RefreshCw, Send } from "lucide-react";
import { useMemo } from "react";
import { CodeBlock, Id } from "../../components/code-block.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Card, Facts } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { RowButton } from "../../components/row-button.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { sentence, Tag, type Tone } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { type Delivery, useDeliveries } from "./api.ts";

const route = getRouteApi("/w/$workspace/webhooks/$id");

interface DeliveriesProps {
  readonly workspace: string;
  readonly id: string;
}

const CARD = {
  title: "Deliveries",
  about: "The last 100 attempts, the newest first.",
  flush: true,
};

/**
 * The last attempts. A receiver may repeat personal data, so its responses are only for people who
 * may see that.
 */
export function Deliveries(props: DeliveriesProps) {
  const missing = useMissing({ workspace: props.workspace, needs: "view_pii" });
  if (missing === undefined) return <Attempts {...props} />;
  return (
    <Card {...CARD}>
      <Empty icon={Lock} title="You may not see this">
        {missing}
      </Empty>
    </Card>
  );
}

function Attempts({ workspace, id }: DeliveriesProps) {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const deliveries = useDeliveries(workspace, id);
  const columns = useMemo(() => {
    const setOpen = (key: string) =>
      void navigate({ search: (now) => ({ ...now, open: key }), replace: true });
    return columnsOf(open, setOpen);
  }, [open, navigate]);
  const refresh = (
    <Button
      variant="default"
      size="xs"
      leftSection={<RefreshCw size={14} />}
      loading={deliveries.isFetching}
      onClick={() => void deliveries.refetch()}
    >
      Refresh
    </Button>
  );
  return (
    <Card {...CARD} actions={refresh}>
      <Loaded from={deliveries} lines={3}>
        {(body) => (
          <DataTable
            label="Deliveries"
            columns={columns}
            rows={body.deliveries}
            keyOf={keyOf}
            openKey={open}
            detail={detailOf}
            empty={
              <Empty icon={Send} title="Nothing sent yet">
                The next change is delivered at once; “Send a test” shows whether the receiver is
                there.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Card>
  );
}

/**
 * A batch has the same id in all attempts; one that is sent again by hand counts its attempts from
 * the start.
 */
const keyOf = ({ webhook_id, attempt, at }: Delivery): string => `${webhook_id} ${attempt} ${at}`;

const TONES: Readonly<Record<Delivery["outcome"], Tone>> = {
  delivered: "good",
  failed: "warn",
  refused: "bad",
  gone: "bad",
  missed: "bad",
};

const columnsOf = (
  open: string | undefined,
  setOpen: (key: string) => void,
): readonly Column<Delivery>[] => [
  {
    id: "at",
    header: "When",
    cell: ({ row: { original: each } }) => {
      const key = keyOf(each);
      return (
        <RowButton isOpen={key === open} onClick={() => setOpen(key === open ? "" : key)}>
          <Time at={each.at} as="clock" />
        </RowButton>
      );
    },
  },
  {
    id: "outcome",
    header: "Outcome",
    cell: ({ row: { original: each } }) => (
      <Tag tone={TONES[each.outcome]}>{sentence(each.outcome)}</Tag>
    ),
  },
  {
    id: "status",
    header: "Status",
    meta: { width: "7rem" },
    cell: ({ row }) => row.original.status ?? <span className="dim">No response</span>,
  },
  {
    id: "kind",
    header: "Why",
    meta: { width: "7rem" },
    cell: ({ row }) => sentence(row.original.kind),
  },
  {
    id: "changes",
    header: "Changes",
    meta: { width: "6rem", end: true },
    cell: ({ row }) => row.original.changes.toLocaleString("en"),
  },
  {
    id: "duration",
    header: "Duration",
    meta: { width: "6.5rem", end: true },
    cell: ({ row }) => `${row.original.duration_ms.toLocaleString("en")} ms`,
  },
  {
    id: "next",
    header: "Next attempt",
    cell: ({ row }) => (
      <span className="above">
        <Time at={row.original.next_attempt_at} absent="None" as="clock" />
      </span>
    ),
  },
];

const detailOf = ({ webhook_id, attempt, response, error, first_change_id }: Delivery) => (
  <Facts
    of={[
      ["Response", response ? <CodeBlock key="response" code={response} label="response" /> : null],
      ["Error", error && <bdi key="error">{error}</bdi>],
      ["Attempt", attempt],
      ["webhook-id", <Id key="id" value={webhook_id} />],
      ["First change", first_change_id && <Id key="first" value={first_change_id} />],
    ]}
  />
);
