import type { LiveItem, LiveRequest } from "../../api/requests.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Json } from "../../components/json.tsx";
import { Tag } from "../../components/tag.tsx";

/** A request below its row: each item with its verdict, the body and the response. */
export const RequestDetail = ({ request }: { readonly request: LiveRequest }) => (
  <div className="stack">
    {request.items.length > 0 && (
      <DataTable
        label="Items"
        columns={COLUMNS}
        rows={request.items}
        keyOf={({ kind, index }) => `${kind} ${index}`}
        empty={null}
      />
    )}
    <div className="request-bodies">
      <div>
        <strong>Body</strong>
        <Json value={request.body} label="the body" />
      </div>
      <div>
        <strong>Response</strong>
        <Json value={request.response} label="the response" />
      </div>
    </div>
  </div>
);

const COLUMNS: readonly Column<LiveItem>[] = [
  {
    id: "item",
    header: "Item",
    meta: { width: "9rem" },
    cell: ({ row: { original: item } }) => (
      <code>
        {item.kind}[{item.index}]
      </code>
    ),
  },
  {
    id: "user",
    header: "User",
    meta: { wideOnly: true, width: "12rem" },
    cell: ({ row }) => row.original.user ?? <span className="dim">–</span>,
  },
  {
    id: "verdict",
    header: "Verdict",
    cell: ({ row: { original: item } }) =>
      item.accepted ? (
        <Tag tone="good">Accepted</Tag>
      ) : (
        <>
          <Tag tone="bad">{item.code ?? "Refused"}</Tag> {item.message}
        </>
      ),
  },
];
