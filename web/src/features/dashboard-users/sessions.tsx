import { MonitorX } from "lucide-react";
import type { PersonSession } from "../../api/sign-in.ts";
import { actions, type Column, column, DataTable } from "../../components/data-table.tsx";
import { type Needs, PermittedButton } from "../../components/permitted.tsx";
import { Empty } from "../../components/states.tsx";
import { Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

const WAYS: Readonly<Record<string, string>> = {
  password: "Password",
  passkey: "Passkey",
  invitation: "Invitation",
  oidc: "Single sign-on",
  link: "Link",
  admin_token: "Admin token",
};

interface SessionsProps {
  readonly of: readonly PersonSession[];
  /** What ending one needs; absent for one's own. */
  readonly needs?: Needs;
  end(id: string): void;
}

/** Where a person is signed in, for the person and for administrators. */
export const Sessions = ({ of: sessions, needs, end }: SessionsProps) => (
  <DataTable
    label="Sessions"
    columns={columnsOf(needs, end)}
    rows={sessions}
    keyOf={({ id }) => id}
    empty={<Empty icon={MonitorX} title="Signed in nowhere" />}
  />
);

const columnsOf = (
  needs: Needs | undefined,
  end: (id: string) => void,
): readonly Column<PersonSession>[] => [
  column("Browser", ({ browser, current, address }) => (
    <>
      {browser ?? "Another program"} {current && <Tag tone="good">This one</Tag>}
      <div className="dim">{address}</div>
    </>
  )),
  column(
    "Signed in with",
    { width: "9rem" },
    ({ way }) => WAYS[way ?? ""] ?? <span className="dim">Not known</span>,
  ),
  column("Since", { width: "8.5rem" }, ({ created_at }) => <Time at={created_at} />),
  column("Last used", { width: "8.5rem" }, ({ last_used_at }) => <Time at={last_used_at} />),
  actions("6rem", ({ id, browser, address }) => (
    <PermittedButton
      needs={needs}
      size="compact-xs"
      variant="default"
      aria-label={`End the session of ${browser ?? "another program"} at ${address}`}
      onClick={() => end(id)}
    >
      End
    </PermittedButton>
  )),
];
