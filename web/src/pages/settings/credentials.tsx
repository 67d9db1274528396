import { Menu } from "@mantine/core";
import { KeyRound, Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Confirm } from "../../components/confirm.tsx";
import { actions, type Column, column, DataTable } from "../../components/data-table.tsx";
import { Declared } from "../../components/declared.tsx";
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
  create(close: () => void, created: (secret: string) => void): ReactNode;
}

type Dialog = { readonly kind: "create" | "rotate" | "revoke"; readonly name: string };

export function Credentials(props: CredentialsProps) {
  const { noun, title, action, about, scopeTitle, list, needs, rotate, revoke, create } = props;
  const [dialog, setDialog] = useState<Dialog>();
  const [secret, setSecret] = useState<string>();
  const close = () => setDialog(undefined);
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
          onClick={() => setDialog({ kind: "create", name: "" })}
        >
          {action}
        </PermittedButton>
      }
    >
      <DataTable
        label={title}
        columns={columnsOf(scopeTitle, needs, setDialog)}
        rows={list}
        keyOf={(each) => `${each.name} ${each.created_at}`}
        empty={<Empty icon={KeyRound} title={`No ${noun}s yet`} />}
      />
      {dialog?.kind === "create" && create(close, setSecret)}
      {dialog?.kind === "rotate" && (
        <Confirm
          title={`Rotate ${dialog.name}`}
          action="Rotate"
          close={close}
          run={async () => setSecret(await rotate(dialog.name))}
        >
          It gets a new secret, shown once. The present secret keeps working for 24 hours, so that
          you can replace it where it is used.
        </Confirm>
      )}
      {dialog?.kind === "revoke" && (
        <Confirm
          title={`Revoke ${dialog.name}`}
          action="Revoke"
          typed={dialog.name}
          close={close}
          run={async () => {
            await revoke(dialog.name);
            tellDone(`Revoked ${dialog.name}.`);
          }}
        >
          Requests with it are refused within a second, and it cannot be brought back.
        </Confirm>
      )}
      {secret && (
        <SecretDialog title={`Your ${noun}`} secret={secret} close={() => setSecret(undefined)} />
      )}
    </Card>
  );
}

const columnsOf = (
  scopeTitle: string,
  needs: Needs,
  open: (dialog: Dialog) => void,
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
        <Menu.Item onClick={() => open({ kind: "rotate", name: each.name })}>Rotate…</Menu.Item>
        <Menu.Item onClick={() => open({ kind: "revoke", name: each.name })}>Revoke…</Menu.Item>
      </RowActions>
    ),
  ),
];
