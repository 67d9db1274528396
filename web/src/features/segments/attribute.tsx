import { getRouteApi } from "@tanstack/react-router";
import { useCatalogue } from "../../api/catalogue.ts";
import { nameOfValue } from "../../components/code-names.ts";
import { FeatureLink } from "../../components/feature-link.tsx";
import { Figures, sizeText, usersText } from "../../components/figures.tsx";
import { Absent, Card, Facts, Page } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Loaded, Notice } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { type AttributeValues, useAttributeValues } from "./api.ts";

const route = getRouteApi("/w/$workspace/catalogue/attribute");

/** An attribute: its types, how many users have it, and which values. */
export function AttributePage() {
  const { name = "", kind } = route.useSearch();
  const isStandard = kind === "attribute";
  const missing = useMissing(["view_pii", "edit_segments"]);
  const values = useAttributeValues(
    isStandard ? "attribute" : "custom_attribute",
    name,
    missing === undefined,
  );
  return (
    <Page
      title={isStandard ? sentence(name) : name}
      windowTitle={`${name}, attribute`}
      about={
        <FeatureLink to="/w/$workspace/catalogue" search={{ kind: "attribute" }} className="link">
          Catalogue
        </FeatureLink>
      }
      actions={<NewSegment search={searchFor(name, isStandard)} />}
    >
      <div className="stack">
        {!isStandard && <Sent name={name} />}
        {missing ? (
          <Notice tone="warn" title="Values are hidden">
            {missing}
          </Notice>
        ) : (
          <Loaded from={values}>
            {(data) => <Values name={name} isStandard={isStandard} data={data} />}
          </Loaded>
        )}
      </div>
    </Page>
  );
}

const searchFor = (name: string, isStandard: boolean) => ({
  [isStandard ? "standard" : "attribute"]: name,
});

interface NewSegmentProps {
  readonly search: Readonly<Record<string, string>>;
  readonly label?: string;
}

const NewSegment = ({ search, label = "New segment" }: NewSegmentProps) => (
  <FeatureLink
    to="/w/$workspace/segments/$id"
    params={{ id: "new" }}
    search={search}
    className="link"
  >
    {label}
  </FeatureLink>
);

/** What the catalogue has about a custom attribute. */
function Sent({ name }: { readonly name: string }) {
  const entry = useCatalogue("attribute", name).data?.entries.find((each) => each.name === name);
  return (
    <Card>
      <Facts
        of={[
          ["Types", entry?.types.map(({ type, seen }) => `${type} ${usersText(seen)}`).join(", ")],
          ["Sent", entry && usersText(entry.seen)],
          ["First", <Time key="first" at={entry?.first_seen} />],
          ["Last", <Time key="last" at={entry?.last_seen} />],
        ]}
      />
    </Card>
  );
}

const PERCENT = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

interface ValuesProps {
  readonly name: string;
  readonly isStandard: boolean;
  readonly data: AttributeValues;
}

function Values({ name, isStandard, data }: ValuesProps) {
  const { users, total, looked_at, values } = data;
  return (
    <Card
      title="Values"
      about={
        looked_at === total
          ? "All users, counted just now."
          : `Estimated just now from ${usersText(looked_at)} users drawn by chance; in brackets where the number is with 95 % certainty.`
      }
    >
      <p>
        <strong>{sizeText(users)}</strong> of {usersText(total)} users have it.
      </p>
      {values.length === 0 ? (
        <Absent />
      ) : (
        <Figures
          label="Values"
          head={["Value", "Users", "Share", "Segment"]}
          rows={values.map(({ value, users: having }) => [
            <bdi key="value">{isStandard ? nameOfValue(name, value) : String(value)}</bdi>,
            sizeText(having),
            PERCENT.format(having.matching / Math.max(1, users.matching)),
            <NewSegment
              key="segment"
              search={{ ...searchFor(name, isStandard), value: JSON.stringify(value) }}
              label={`New segment of ${String(value)}`}
            />,
          ])}
        />
      )}
    </Card>
  );
}
