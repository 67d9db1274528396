import { CopyText } from "../../components/code-block.tsx";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { Json } from "../../components/json.tsx";
import { Absent } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import type { LiveItem, LiveRequest } from "./api.ts";

/** A request below its row: each item with its verdict, the body and the response. */
export function RequestDetail({ request }: { readonly request: LiveRequest }) {
  const missing = useMissing("view_pii");
  return (
    <div className="stack">
      <div className="dim">
        <Time at={request.at} as="exact" /> · key {request.key.name} · {request.duration_ms} ms · on{" "}
        {request.server} · id <span className="mono">{request.id}</span>{" "}
        <CopyText text={request.id} label="Copy the id of the request" />
      </div>
      {request.items.length > 0 && (
        <DataTable
          label="Items"
          columns={COLUMNS}
          rows={rejectedFirst(request.items)}
          keyOf={({ kind, index }) => `${kind} ${index}`}
        />
      )}
      <div className="request-bodies">
        <Part title="Body" value={request.body} missing={missing} />
        <Part title="Response" value={request.response} missing={missing} />
      </div>
    </div>
  );
}

/** The items that need attention, of fifty. */
const rejectedFirst = (items: readonly LiveItem[]): readonly LiveItem[] => [
  ...items.filter(({ accepted }) => !accepted),
  ...items.filter(({ accepted }) => accepted),
];

interface PartProps {
  readonly title: "Body" | "Response";
  readonly value: unknown;
  /** Why the person may not see it. */
  readonly missing: string | undefined;
}

const Part = ({ title, value, missing }: PartProps) => (
  <div>
    <strong>{title}</strong>
    {value === null ? (
      <p className="dim">{missing ?? "There was none, or it was too large to be kept."}</p>
    ) : (
      <Json value={value} label={`the ${title.toLowerCase()}`} />
    )}
  </div>
);

const COLUMNS: readonly Column<LiveItem>[] = [
  column("Item", { width: "9rem" }, (item) => (
    <code>
      {item.kind}[{item.index}]
    </code>
  )),
  column("User", { width: "22%" }, (item) =>
    item.user ? (
      <FeatureLink
        to="/w/$workspace/users"
        search={{ query: item.user, match: "exact" }}
        className="link clamped"
        dir="auto"
      >
        {item.user}
      </FeatureLink>
    ) : (
      <Absent />
    ),
  ),
  column("Verdict", (item) =>
    item.accepted ? (
      <Tag tone="good">Accepted</Tag>
    ) : (
      <>
        <Tag tone="bad">{item.code ?? "Refused"}</Tag> {item.message}
      </>
    ),
  ),
];
