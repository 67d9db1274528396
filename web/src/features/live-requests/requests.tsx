import { Button, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Activity, Pause, Play, Search } from "lucide-react";
import { useMemo, useState } from "react";
import { ApiError } from "../../api/api-error.ts";
import { morePages } from "../../api/pages.ts";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { firstRequest, KeysLink } from "../../components/first-request.tsx";
import { Absent, Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import { Tag, type Tone } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { type LiveRequest, type RequestFilter, useRequest, useRequests } from "./api.ts";
import { RequestDetail } from "./request-detail.tsx";
import { type StreamState, useStream } from "./request-stream.ts";

const route = getRouteApi("/w/$workspace/requests");

/** Without a stream. */
const POLL_EVERY_MS = 5_000;

export function RequestsPage() {
  const { open, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const [isLive, setLive] = useState(true);
  const [isKept, setKept] = useState(false);
  const { state, skipped } = useStream(filter, isLive && isKept);
  const pages = useRequests(filter, state === "polling" && POLL_EVERY_MS);
  const kept = pages.data?.pages[0]?.kept;
  if (kept !== undefined && isKept !== kept > 0) setKept(kept > 0);
  const requests = useMemo(
    () => pages.data?.pages.flatMap((page) => page.requests) ?? [],
    [pages.data],
  );
  const linked = useLinked(open, pages.isSuccess ? requests : undefined);
  return (
    <Page
      title="Live requests"
      about="The requests of clients, with the verdict on every item. The latest ones are kept for a while."
      actions={
        <>
          {isKept && <StreamTag state={state} />}
          <Button
            variant="default"
            disabled={!isKept}
            leftSection={isLive ? <Pause size={14} /> : <Play size={14} />}
            onClick={() => setLive(!isLive)}
          >
            {isLive ? "Pause" : "Resume"}
          </Button>
        </>
      }
    >
      <Filters filter={filter} />
      <Loaded from={pages}>
        {() => (
          <>
            {skipped > 0 && (
              <Notice>
                {skipped} more came in at once and are not shown. A filter narrows it.
              </Notice>
            )}
            {kept === 0 && (
              <Notice tone="warn" title="Live requests are off">
                Set LIVE_REQUESTS to how many the server should keep.
              </Notice>
            )}
            {linked.isGone && (
              <Notice tone="warn" title="The request of this link is not kept any more">
                Only the latest requests are kept, for a day at most.
              </Notice>
            )}
            <DataTable
              label="Live requests"
              columns={COLUMNS}
              rows={linked.request ? [linked.request, ...requests] : requests}
              keyOf={({ id }) => id}
              more={morePages(pages)}
              openKey={open}
              setOpen={(id = "") =>
                void navigate({ search: (now) => ({ ...now, open: id }), replace: true })
              }
              detail={(request) => <RequestDetail request={request} />}
              empty={
                Object.values(filter).some(Boolean) ? (
                  <NoneLikeThis clear={() => void navigate({ search: {}, replace: true })} />
                ) : (
                  <NoRequests />
                )
              }
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The request that a link opens, if the loaded list does not have it. */
function useLinked(
  id: string | undefined,
  listed: readonly LiveRequest[] | undefined,
): { readonly request: LiveRequest | undefined; readonly isGone: boolean } {
  // One that was opened in the list stays while newer ones push it out.
  const isWanted = id !== undefined && listed?.some((each) => each.id === id) === false;
  const { data, error } = useRequest(id ?? "", isWanted);
  return {
    request: isWanted ? data?.request : undefined,
    isGone: isWanted && (error as unknown) instanceof ApiError,
  };
}

const NoneLikeThis = ({ clear }: { clear(): void }) => (
  <Empty
    icon={Search}
    title="No request like this is kept"
    action={
      <Button mt="xs" variant="default" onClick={clear}>
        Clear the filters
      </Button>
    }
  >
    Only the latest requests are kept, for a day at most.
  </Empty>
);

const NoRequests = () => (
  <Empty icon={Activity} title="No requests yet" command={firstRequest(location.origin)}>
    Requests appear here as they come in. Send one with an <KeysLink />:
  </Empty>
);

const STREAM: Readonly<Record<StreamState, readonly [Tone, string]>> = {
  live: ["good", "Live"],
  connecting: ["info", "Connecting"],
  reconnecting: ["warn", "Reconnecting"],
  polling: ["info", "Every 5 seconds"],
  paused: ["plain", "Paused"],
};

const StreamTag = ({ state }: { readonly state: StreamState }) => (
  <output aria-live="polite">
    <Tag tone={STREAM[state][0]}>{STREAM[state][1]}</Tag>
  </output>
);

const FIELDS = [
  ["endpoint", "Endpoint", "/users/track"],
  ["key", "API key", "Name or id"],
  ["user", "User", "External id, alias, email"],
  ["code", "Code", "INVALID_TIME"],
] as const;

function Filters({ filter }: { readonly filter: RequestFilter }) {
  const navigate = route.useNavigate();
  const set = (change: RequestFilter) =>
    void navigate({ search: (now) => ({ ...now, ...change, open: "" }), replace: true });
  return (
    <search className="toolbar">
      <Select
        label="Status"
        w="9rem"
        value={filter.status ?? ""}
        data={[
          { value: "", label: "Any" },
          { value: "2xx", label: "Accepted (2xx)" },
          { value: "4xx", label: "Refused (4xx)" },
          { value: "5xx", label: "Failed (5xx)" },
        ]}
        onChange={(status) => set({ status: status ?? "" })}
      />
      {FIELDS.map(([name, label, placeholder]) => (
        <SearchField
          key={name}
          isFilter
          label={label}
          placeholder={placeholder}
          value={filter[name]}
          search={(wanted) => set({ [name]: wanted })}
        />
      ))}
    </search>
  );
}

const toneOf = (status: number): Tone => (status >= 500 ? "bad" : status >= 400 ? "warn" : "good");

const COLUMNS: readonly Column<LiveRequest>[] = [
  column("Request", ({ status, method, path }) => (
    <>
      <Tag tone={toneOf(status)}>{status}</Tag> {method} {path}
    </>
  )),
  column("Verdict", { width: "29%" }, (each) => <Verdict request={each} />),
  column("Key", { width: "14%", oneLine: true }, ({ key }) => key.name),
  column("Took", { width: "6rem", end: true }, ({ duration_ms }) => `${duration_ms} ms`),
  column("When", { width: "9.5rem" }, ({ at }) => <Time at={at} as="clock" />),
];

function Verdict({ request }: { readonly request: LiveRequest }) {
  const { items, rejected, code: whole } = request;
  const accepted = items.filter((item) => item.accepted).length;
  const [first = whole] = items.flatMap(({ code }) => code ?? []);
  if (items.length === 0 && rejected === 0 && first === null) return <Absent />;
  return (
    <>
      {accepted > 0 && <Tag tone="good">{accepted} accepted</Tag>}{" "}
      {rejected > 0 && <Tag tone="bad">{rejected} rejected</Tag>} {first && <code>{first}</code>}
    </>
  );
}
