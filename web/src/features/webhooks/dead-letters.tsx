import { Menu } from "@mantine/core";
import { MailCheck } from "lucide-react";
import { Confirm } from "../../components/confirm.tsx";
import { actions, type Column, column } from "../../components/data-table.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { tellFailed } from "../../components/feedback.tsx";
import { PagedTable } from "../../components/loaded-table.tsx";
import { Absent, Card } from "../../components/page.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { type DeadLetter, useChangeWebhooks, useDeadLetters } from "./api.ts";
import { tellAttempt } from "./tell-attempt.ts";

/** Refused changes, each to be sent again or discarded. */
export function DeadLetters({ id }: { readonly id: string }) {
  const { sendAgain, discard } = useChangeWebhooks();
  const { open, dialog } = useDialog();
  const send = ({ dead_letter_id }: DeadLetter) =>
    void sendAgain(id, dead_letter_id)
      .then((attempt) => attempt && tellAttempt(attempt))
      .catch(tellFailed);
  const ask = ({ dead_letter_id, change_id }: DeadLetter) =>
    open(
      <Confirm
        title="Discard a dead letter"
        action="Discard"
        run={() => discard(id, dead_letter_id)}
      >
        The receiver does not get the change <code>{change_id}</code>.
      </Confirm>,
    );
  return (
    <Card
      title="Dead letters"
      about="Changes that the receiver refused. They are not retried automatically."
      flush
    >
      <PagedTable
        from={useDeadLetters(id)}
        lines={3}
        label="Dead letters"
        columns={columnsOf(send, ask)}
        rows={(page) => page.dead_letters}
        keyOf={({ dead_letter_id }) => dead_letter_id}
        empty={<Empty icon={MailCheck} title="The receiver has refused nothing" />}
      />
      {dialog}
    </Card>
  );
}

const columnsOf = (
  send: (letter: DeadLetter) => void,
  discard: (letter: DeadLetter) => void,
): readonly Column<DeadLetter>[] => [
  column("Change", ({ type }) => <code>{type}</code>),
  column("Id", { oneLine: true }, ({ change_id }) => <span className="mono dim">{change_id}</span>),
  column("Status", { width: "6rem" }, ({ status }) => status ?? <Absent />),
  column("When", { width: "11rem" }, ({ at }) => <Time at={at} as="clock" />),
  actions("4rem", (letter) => (
    <RowActions of={letter.change_id} needs="admin">
      <Menu.Item onClick={() => send(letter)}>Send again</Menu.Item>
      <Menu.Item onClick={() => discard(letter)}>Discard…</Menu.Item>
    </RowActions>
  )),
];
