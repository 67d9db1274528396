import { MonitorSmartphone } from "lucide-react";
import { useAppNames } from "../../api/administration.ts";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { shortValue } from "../../components/json.tsx";
import { Absent, Card } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import type { TabProps } from "./tab.ts";

type Entry = Readonly<Record<string, unknown>>;

/**
 * The user's devices and apps: each list as a table whose columns are the fields of its entries.
 */
export function Devices({ profile }: TabProps) {
  const apps = useAppNames();
  const lists = (
    [
      ["Apps", profile.apps],
      ["Devices", profile.devices],
      ["Push tokens", profile.push_tokens],
    ] as const
  ).filter(([, list]) => (list ?? []).length > 0);
  if (lists.length === 0) {
    return (
      <Empty isFramed icon={MonitorSmartphone} title="No devices or apps">
        Apps come with app_id on events, purchases and sessions; devices and push tokens with
        push_tokens or an import.
      </Empty>
    );
  }
  return (
    <div className="stack">
      {lists.map(([title, list]) => (
        <Card key={title} title={title} flush>
          <DataTable
            label={title}
            columns={columnsOf(list, apps)}
            rows={list}
            keyOf={(entry) => JSON.stringify(entry)}
          />
        </Card>
      ))}
    </div>
  );
}

const columnsOf = (
  list: readonly Entry[],
  apps: ReadonlyMap<string, string>,
): readonly Column<Entry>[] =>
  [...new Set(list.flatMap((entry) => Object.keys(entry)))].map((name) =>
    column(sentence(name), (each) => <Value name={name} value={each[name]} apps={apps} />),
  );

/** As the export names times. */
const IS_TIME = /^(first|last)_used$|_at$/;

interface ValueProps {
  readonly name: string;
  readonly value: unknown;
  readonly apps: ReadonlyMap<string, string>;
}

function Value({ name, value, apps }: ValueProps) {
  if (value === null || value === undefined) return <Absent />;
  if (IS_TIME.test(name) && typeof value === "string") return <Time at={value} />;
  const text = shortValue(value);
  const app = name === "app_id" ? apps.get(text) : undefined;
  if (app !== undefined) return <bdi title={text}>{app}</bdi>;
  return /(_id|token)$/.test(name) ? (
    <span className="mono clamped">{text}</span>
  ) : (
    <bdi>{text}</bdi>
  );
}
