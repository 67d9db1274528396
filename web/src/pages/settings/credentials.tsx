import { Menu } from "@mantine/core";
import { KeyRound, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { Confirm } from "../../components/confirm.tsx";
import { actions, type Column, column, DataTable } from "../../components/data-table.tsx";
import { Declared } from "../../components/declared.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { Card } from "../../components/page.tsx";
import { type Needs, PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { SecretDialog } from "../../components/secret-dialog.tsx";
import { Empty } from "../../components/states.tsx";
import { Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

/* The common parts of API keys and SCIM tokens: a list, a secret that is shown once, rotation, revocation. */

export interface Credential {
  readonly name: string;
  readonly declared: boolean;
  readonly created_at: string;
  readonly last_seen_at: string | null;
  readonly revoked_at: string | null;
  /** Until when the secret before the last rotation works. */
  readonly previousUntil: string | null;
  /** The kind's special field: permissions, or the origin of requests. */
  readonly scope: ReactNode;
}

interface CredentialsProps {
  /** `API key` or `SCIM token`. */
  readonly noun: string;
  readonly title: string;
  /** The label of the button that creates one. */
  readonly action: string;
  readonly about: string;
  readonly scopeTitle: string;
  readonly list: readonly Credential[];
  /** The permission for creating, rotating and revoking. */
  readonly needs: Needs;
  rotate(name: string): Promise<string>;
  revoke(name: string): Promise<unknown>;
  /** The form; it calls `created` with the secret. */
  create(created: (secret: string) => void): ReactNode;
}

export function Credentials(props: CredentialsProps) {
  const { noun, title, action, about, scopeTitle, list, needs, rotate, revoke, create } = props;
  const { open, dialog } = useDialog();
  const show = (secret: string) => open(<SecretDialog title={`Your ${noun}`} secret={secret} />);
  const ask = {
    rotate: (name: string) =>
      open(
        <Confirm
          title={`Rotate ${name}`}
          action="Rotate"
          run={async () => show(await rotate(name))}
        >
          It gets a new secret, shown once. The present secret keeps working for 24 hours, so that
          you can replace it where it is used.
        </Confirm>,
      ),
    revoke: (name: string) =>
      open(
        <Confirm
          title={`Revoke ${name}`}
          action="Revoke"
          typed={name}
          run={async () => {
            await revoke(name);
            tellDone(`Revoked ${name}.`);
          }}
        >
          Requests with it are refused within a second, and it cannot be brought back.
        </Confirm>,
      ),
  };
  return (
    <Card
      title={title}
      about={about}
      flush
      actions={
        <PermittedButton
          needs={needs}
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => open(create(show))}
        >
          {action}
        </PermittedButton>
      }
    >
      <DataTable
        label={title}
        columns={columnsOf(scopeTitle, needs, ask)}
        rows={list}
        keyOf={(each) => `${each.name} ${each.created_at}`}
        empty={<Empty icon={KeyRound} title={`No ${noun}s yet`} />}
      />
      {dialog}
    </Card>
  );
}

const columnsOf = (
  scopeTitle: string,
  needs: Needs,
  ask: Readonly<Record<"rotate" | "revoke", (name: string) => void>>,
): readonly Column<Credential>[] => [
  column("Name", { sortBy: "name" }, (each) => (
    <>
      <strong>
        <bdi>{each.name}</bdi>
      </strong>{" "}
      <Declared declared={each.declared} />
      {each.revoked_at && <Tag tone="bad">Revoked</Tag>}
      {each.previousUntil && <Tag tone="warn">Rotating</Tag>}
    </>
  )),
  column(scopeTitle, { width: "34%" }, ({ scope }) => scope),
  column("Created", { sortBy: "created_at", width: "8.5rem" }, ({ created_at }) => (
    <Time at={created_at} />
  )),
  column("Last used", { sortBy: "last_seen_at", width: "8.5rem" }, ({ last_seen_at }) => (
    <Time at={last_seen_at} />
  )),
  actions("4rem", (each) =>
    each.revoked_at ? null : (
      <RowActions of={each.name} needs={needs}>
        <Menu.Item onClick={() => ask.rotate(each.name)}>Rotate…</Menu.Item>
        <Menu.Item onClick={() => ask.revoke(each.name)}>Revoke…</Menu.Item>
      </RowActions>
    ),
  ),
];
