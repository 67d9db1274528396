import { Button, MultiSelect, Popover } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { Columns3 } from "lucide-react";
import type { ReactNode } from "react";
import { fullNameOf, nameOf } from "../../api/name-of.ts";
import { type FoundUser, useAttributeNames } from "../../api/users.ts";
import { CutOff } from "../../components/cut-off.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { amountText } from "../../components/numbers.ts";
import { Absent } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";

const CUSTOM = "custom_attributes.";

const text = (value: unknown): ReactNode =>
  typeof value === "string" ? <CutOff text={value} /> : <CutOff text={JSON.stringify(value)} />;

const time = (value: unknown): ReactNode => <Time at={String(value)} />;

const money = (value: unknown): ReactNode =>
  Object.entries(value as Record<string, number>)
    .map(([currency, amount]) => amountText(amount, currency))
    .join(", ");

const aliases = (value: unknown): ReactNode => {
  const [first, ...others] = value as FoundUser["user_aliases"];
  if (!first) return <Absent />;
  return (
    <span className="first-of">
      <CutOff text={`${first.alias_label}: ${first.alias_name}`} />
      {others.length > 0 && <span className="dim">+{others.length}</span>}
    </span>
  );
};

/** The time in an id of version 7 (RFC 9562). */
const addedAt = ({ platform_id: id }: FoundUser): string =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString();

interface Shown {
  readonly label: string;
  /** Of the columns that the server adds on request there is none. */
  readonly read?: (user: FoundUser) => unknown;
  readonly show?: (value: unknown) => ReactNode;
  readonly width?: string;
  readonly isSorted?: true;
}

const WHEN = { show: time, width: "8.5rem" } as const;

const STANDARD: Readonly<Record<string, Shown>> = {
  name: { label: "Name", read: fullNameOf, isSorted: true },
  email: { label: "Email", read: ({ email }) => email, isSorted: true },
  phone: { label: "Phone", read: ({ phone }) => phone, width: "9rem" },
  aliases: { label: "Aliases", read: (user) => user.user_aliases, show: aliases, width: "12%" },
  added: { label: "Added", read: addedAt, isSorted: true, ...WHEN },
  created: { label: "Created", read: (user) => user.created_at, ...WHEN },
  updated: { label: "Updated", read: (user) => user.updated_at, ...WHEN },
  last_seen: { label: "Last seen", ...WHEN },
  spent: { label: "Spent", show: money },
  country: { label: "Country" },
  home_city: { label: "City" },
  language: { label: "Language" },
  time_zone: { label: "Time zone" },
};

/** The columns that a person chose in this browser; the first has the user in every list. */
export const useChosenColumns = () =>
  useLocalStorage<string[]>({
    key: "rapport-user-columns",
    defaultValue: ["name", "email", "phone", "added"],
    getInitialValueInEffect: false,
  });

/** Those that the server adds on request. */
export const requestedOf = (chosen: readonly string[]): string[] =>
  chosen.filter((name) => !STANDARD[name]?.read);

export const columnsOf = (
  workspace: string,
  chosen: readonly string[],
): readonly Column<FoundUser>[] => [
  column("User", (user) => (
    <Link
      to="/w/$workspace/users/$id"
      params={{ workspace, id: user.platform_id }}
      className="row-link clamped"
      title={nameOf(user)}
      dir="auto"
    >
      {nameOf(user)}
    </Link>
  )),
  ...chosen.map((id): Column<FoundUser> => {
    const shown: Shown = STANDARD[id] ?? { label: id.replace(CUSTOM, "") };
    const { label, read = ({ columns }) => columns[id], show = text, width, isSorted } = shown;
    return column(label, { id, width, sortBy: isSorted && read }, (user) => {
      const found = read(user);
      return found === undefined || found === null || found === "" ? <Absent /> : show(found);
    });
  }),
];

interface ColumnChoiceProps {
  readonly chosen: string[];
  choose(columns: string[]): void;
}

export function ColumnChoice({ chosen, choose }: ColumnChoiceProps) {
  const custom = useAttributeNames().data?.entries.map(({ name }) => name) ?? [];
  return (
    <Popover position="bottom-end" width="22rem" trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<Columns3 size={15} />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <MultiSelect
          label="Columns"
          description="In this order; remove one to move it. This browser keeps them."
          searchable
          maxValues={20}
          value={chosen}
          onChange={choose}
          comboboxProps={{ withinPortal: false }}
          data={[
            {
              group: "Standard",
              items: Object.entries(STANDARD).map(([value, { label }]) => ({ value, label })),
            },
            {
              group: "Custom attributes",
              items: custom.map((label) => ({ value: CUSTOM + label, label })),
            },
          ]}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
