import { Menu } from "@mantine/core";
import { MailCheck } from "lucide-react";
import { useMemo, useState } from "react";
import { morePages } from "../../api/pages.ts";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { tellFailed } from "../../components/feedback.tsx";
import { Absent, Card } from "../../components/page.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { type DeadLetter, useChangeWebhooks, useDeadLetters } from "./api.ts";
import { tellAttempt } from "./tell-attempt.ts";

interface DeadLettersProps {
  readonly workspace: string;
  readonly id: string;
}

/** Refused changes, each to be sent again or discarded. */
export function DeadLetters({ workspace, id }: DeadLettersProps) {
  const pages = useDeadLetters(workspace, id);
  const letters = useMemo(
    () => pages.data?.pages.flatMap((page) => page.dead_letters) ?? [],
    [pages.data],
  );
  const { sendAgain, discard } = useChangeWebhooks(workspace);
  const [given, setGiven] = useState<DeadLetter>();
  const send = ({ dead_letter_id }: DeadLetter) =>
    void sendAgain(id, dead_letter_id)
      .then((attempt) => attempt && tellAttempt(attempt))
      .catch(tellFailed);
  return (
    <Card
      title="Dead letters"
      about="Changes that the receiver refused. They are not retried automatically."
      flush
    >
      <Loaded from={pages} lines={3}>
        {() => (
          <DataTable
            label="Dead letters"
            columns={columnsOf(workspace, send, setGiven)}
            rows={letters}
            keyOf={({ dead_letter_id }) => dead_letter_id}
            more={morePages(pages)}
            empty={<Empty icon={MailCheck} title="The receiver has refused nothing" />}
          />
        )}
      </Loaded>
      {given && (
        <Confirm
          title="Discard a dead letter"
          action="Discard"
          close={() => setGiven(undefined)}
          run={() => discard(id, given.dead_letter_id)}
        >
          The receiver does not get the change <code>{given.change_id}</code>.
        </Confirm>
      )}
    </Card>
  );
}

const columnsOf = (
  workspace: string,
  send: (letter: DeadLetter) => void,
  discard: (letter: DeadLetter) => void,
): readonly Column<DeadLetter>[] => [
  { id: "type", header: "Change", cell: ({ row }) => <code>{row.original.type}</code> },
  {
    id: "change",
    header: "Id",
    meta: { oneLine: true },
    cell: ({ row }) => <span className="mono dim">{row.original.change_id}</span>,
  },
  {
    id: "status",
    header: "Status",
    meta: { width: "6rem" },
    cell: ({ row }) => row.original.status ?? <Absent />,
  },
  {
    id: "at",
    header: "When",
    meta: { width: "11rem" },
    cell: ({ row }) => <Time at={row.original.at} as="clock" />,
  },
  {
    id: "actions",
    header: () => <span className="hidden">Actions</span>,
    meta: { width: "4rem", end: true },
    cell: ({ row: { original: letter } }) => (
      <RowActions of={letter.change_id} needed={{ workspace, needs: "admin" }}>
        <Menu.Item onClick={() => send(letter)}>Send again</Menu.Item>
        <Menu.Item onClick={() => discard(letter)}>Discard…</Menu.Item>
      </RowActions>
    ),
  },
];
