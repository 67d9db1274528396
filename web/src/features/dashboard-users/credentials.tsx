import { Button } from "@mantine/core";
import { MonitorX } from "lucide-react";
import type { ReactNode } from "react";
import type { OwnCredentials, PersonSession } from "../../api/sign-in.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { type Needed, PermittedButton } from "../../components/permitted.tsx";
import { Empty } from "../../components/states.tsx";
import { Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

/* Lists of what a person signs in with, for the person and for administrators. */

type Passkey = OwnCredentials["passkeys"][number];

interface PasskeysProps {
  readonly of: readonly Passkey[];
  readonly empty: ReactNode;
  readonly remove?: (id: string) => void;
}

export const Passkeys = ({ of: passkeys, empty, remove }: PasskeysProps) => (
  <DataTable
    label="Passkeys"
    columns={[
      { id: "name", header: "Name", cell: ({ row }) => <bdi>{row.original.name}</bdi> },
      {
        id: "created",
        header: "Added",
        meta: { width: "8.5rem" },
        cell: ({ row }) => <Time at={row.original.created_at} />,
      },
      {
        id: "used",
        header: "Last used",
        meta: { width: "8.5rem" },
        cell: ({ row }) => <Time at={row.original.last_used_at} />,
      },
      ...(remove
        ? [
            actionOf<Passkey>(
              "Remove",
              ({ name }) => `Remove ${name}`,
              ({ id }) => remove(id),
            ),
          ]
        : []),
    ]}
    rows={passkeys}
    keyOf={({ id }) => id}
    empty={empty}
  />
);

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
  readonly needed?: Needed;
  end(id: string): void;
}

export const Sessions = ({ of: sessions, needed, end }: SessionsProps) => (
  <DataTable
    label="Sessions"
    columns={[
      {
        id: "browser",
        header: "Browser",
        cell: ({ row: { original: session } }) => (
          <>
            {session.browser ?? "Another program"}{" "}
            {session.current && <Tag tone="good">This one</Tag>}
            <div className="dim">{session.address}</div>
          </>
        ),
      },
      {
        id: "way",
        header: "Signed in with",
        meta: { width: "9rem" },
        cell: ({ row }) => WAYS[row.original.way ?? ""] ?? <span className="dim">Not known</span>,
      },
      {
        id: "begun",
        header: "Since",
        meta: { width: "8.5rem" },
        cell: ({ row }) => <Time at={row.original.created_at} />,
      },
      {
        id: "used",
        header: "Last used",
        meta: { width: "8.5rem" },
        cell: ({ row }) => <Time at={row.original.last_used_at} />,
      },
      actionOf<PersonSession>(
        "End",
        ({ browser, address }) =>
          `End the session of ${browser ?? "another program"} at ${address}`,
        ({ id }) => end(id),
        needed,
      ),
    ]}
    rows={sessions}
    keyOf={({ id }) => id}
    empty={<Empty icon={MonitorX} title="Signed in nowhere" />}
  />
);

/** The column with the button of each row. */
const actionOf = <Entry,>(
  text: string,
  label: (entry: Entry) => string,
  run: (entry: Entry) => void,
  needed?: Needed,
): Column<Entry & object> => ({
  id: "actions",
  header: () => <span className="hidden">Actions</span>,
  meta: { width: "6rem", end: true },
  cell: ({ row: { original: entry } }) => {
    const look = { size: "compact-xs", variant: "default", "aria-label": label(entry) } as const;
    return needed ? (
      <PermittedButton {...needed} {...look} onClick={() => run(entry)}>
        {text}
      </PermittedButton>
    ) : (
      <Button {...look} onClick={() => run(entry)}>
        {text}
      </Button>
    );
  },
});
