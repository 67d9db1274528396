import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { BookOpen } from "lucide-react";
import { Fragment, useMemo } from "react";
import { type CatalogueEntry, type CatalogueKind, useCatalogue } from "../../api/catalogue.ts";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { countText, total } from "../../components/numbers.ts";
import { Absent, Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Sparkline } from "../../components/sparkline.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

const route = getRouteApi("/w/$workspace/catalogue");

const KINDS: readonly { readonly value: CatalogueKind; readonly label: string }[] = [
  { value: "event", label: "Events" },
  { value: "attribute", label: "Attributes" },
  { value: "product", label: "Products" },
];

export function CataloguePage() {
  const { kind: given, search = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const kind = KINDS.find(({ value }) => value === given)?.value ?? "event";
  const entries = useCatalogue(kind, search);
  const columns = useMemo(() => columnsOf(kind), [kind]);
  return (
    <Page
      title="Catalogue"
      about="The workspace's events, custom attributes and products, and how often they are sent."
    >
      <div className="toolbar">
        <SearchField
          label="Search by a part of the name"
          placeholder="A part of the name"
          value={search}
          search={(wanted) => void navigate({ search: { kind, search: wanted }, replace: true })}
        />
        <SegmentedControl
          aria-label="What to list"
          data={[...KINDS]}
          value={kind}
          onChange={(next) => void navigate({ search: { kind: next, search }, replace: true })}
        />
      </div>
      {kind === "attribute" && (
        <p className="dim">
          Of every profile:{" "}
          {STANDARD.map((name) => (
            <Fragment key={name}>
              <FeatureLink
                to="/w/$workspace/catalogue/attribute"
                search={{ name, kind: "attribute" }}
                className="link"
              >
                {sentence(name)}
              </FeatureLink>{" "}
            </Fragment>
          ))}
        </p>
      )}
      <Loaded from={entries}>
        {(body) => (
          <>
            <DataTable
              label="Catalogue"
              columns={columns}
              rows={body.entries}
              keyOf={({ name }) => name}
              isCutOff={body.next_cursor !== undefined && body.next_cursor !== null}
              empty={
                <Empty icon={BookOpen} title={search ? "Nothing found" : "Nothing yet"}>
                  Names appear here once they are sent.
                </Empty>
              }
            />
            {body.next_cursor && (
              <p className="dim">There are more: search by a part of the name.</p>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

const columnsOf = (kind: CatalogueKind): readonly Column<CatalogueEntry>[] => [
  column("Name", { sortBy: "name" }, (each) => (
    <>
      <FeatureLink {...linkTo(kind, each.name)} className="link">
        <bdi>{each.name}</bdi>
      </FeatureLink>
      {each.types.length > 0 && (
        <div className="dim">
          {each.types.map(({ type, seen }) => `${type} ${countText(seen)}`).join(", ")}
        </div>
      )}
    </>
  )),
  column("Sent", { sortBy: "seen", width: "8rem", end: true }, ({ seen }) => countText(seen)),
  column("First", { sortBy: "first_seen", width: "10rem" }, ({ first_seen }) => (
    <SeenAt time={first_seen} />
  )),
  column("Last", { sortBy: "last_seen", width: "10rem" }, ({ last_seen }) => (
    <SeenAt time={last_seen} />
  )),
  column("30 days", { width: "10rem" }, (each) => (
    <Sparkline
      label={`${each.name}: ${countText(total(each.days))} in 30 days`}
      values={each.days}
    />
  )),
];

/** The page of an event or attribute; a new segment with a product. */
const linkTo = (kind: CatalogueKind, name: string) =>
  kind === "product"
    ? {
        to: "/w/$workspace/segments/$id",
        params: { id: "new" },
        search: { product: name },
        title: "Make a segment with it",
      }
    : { to: `/w/$workspace/catalogue/${kind}`, search: { name } };

/** Standard attributes with values that are worth a look. */
const STANDARD = ["country", "language", "home_city", "gender", "time_zone"];

const SeenAt = ({ time }: { readonly time: string | null }) =>
  time ? <Time at={time} /> : <Absent />;
