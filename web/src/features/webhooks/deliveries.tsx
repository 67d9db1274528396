import { Button } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Lock, RefreshCw, Send } from "lucide-react";
import { CodeBlock, Id } from "../../components/code-block.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { LoadedTable } from "../../components/loaded-table.tsx";
import { countText } from "../../components/numbers.ts";
import { Card, Facts } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Empty } from "../../components/states.tsx";
import { sentence, Tag, type Tone } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { type Delivery, useDeliveries } from "./api.ts";

const route = getRouteApi("/w/$workspace/webhooks/$id");

interface DeliveriesProps {
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
  const missing = useMissing("view_pii");
  if (missing === undefined) return <Attempts {...props} />;
  return (
    <Card {...CARD}>
      <Empty icon={Lock} title="You may not see this">
        {missing}
      </Empty>
    </Card>
  );
}

function Attempts({ id }: DeliveriesProps) {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const deliveries = useDeliveries(id);
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
      <LoadedTable
        from={deliveries}
        lines={3}
        label="Deliveries"
        columns={COLUMNS}
        rows={(body) => body.deliveries}
        keyOf={keyOf}
        openKey={open}
        setOpen={(key = "") =>
          void navigate({ search: (now) => ({ ...now, open: key }), replace: true })
        }
        detail={detailOf}
        empty={
          <Empty icon={Send} title="Nothing sent yet">
            The next change is delivered at once; “Send a test” shows whether the receiver is there.
          </Empty>
        }
      />
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

const COLUMNS: readonly Column<Delivery>[] = [
  column("When", ({ at }) => <Time at={at} as="clock" />),
  column("Outcome", (each) => <Tag tone={TONES[each.outcome]}>{sentence(each.outcome)}</Tag>),
  column(
    "Status",
    { width: "7rem" },
    ({ status }) => status ?? <span className="dim">No response</span>,
  ),
  column("Why", { width: "7rem" }, ({ kind }) => sentence(kind)),
  column("Changes", { width: "6rem", end: true }, ({ changes }) => countText(changes)),
  column(
    "Duration",
    { width: "6.5rem", end: true },
    ({ duration_ms }) => `${countText(duration_ms)} ms`,
  ),
  column("Next attempt", ({ next_attempt_at }) => (
    <Time at={next_attempt_at} absent="None" as="clock" />
  )),
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
