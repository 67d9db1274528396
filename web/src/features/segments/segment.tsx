import { TagsInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/api-error.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { PageLink } from "../../components/feature-link.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { valueIn } from "../../components/json.tsx";
import { newId } from "../../components/new-id.ts";
import { Card, Page } from "../../components/page.tsx";
import { PermittedButton, useMissing } from "../../components/permitted.tsx";
import { Failure, Loaded } from "../../components/states.tsx";
import {
  type FilterJson,
  type Segment,
  useChangeSegments,
  useSegmentCount,
  useSegments,
} from "./api.ts";
import { Builder } from "./builder.tsx";
import { ExactCount } from "./exact-count.tsx";
import { filterIn, filterOf, type Group, groupOf, isOpen } from "./filter-model.ts";
import { Members } from "./members.tsx";
import { SizeCard } from "./size.tsx";
import { SizeOverTime } from "./size-over-time.tsx";

const route = getRouteApi("/w/$workspace/segments/$id");

/** How long typing rests before users are counted. */
const REST_MS = 400;

export function SegmentPage() {
  const { id } = route.useParams();
  const search = route.useSearch();
  const segments = useSegments();
  if (id === "new") {
    return <Edit segment={undefined} first={firstOf(search)} />;
  }
  return (
    <Loaded from={segments} page="Segment">
      {({ segments: all }) => {
        const segment = all.find((each) => each.id === id);
        if (!segment) return <Failure error={new ApiError(404, "There is no such segment.")} />;
        return <Edit key={id} segment={segment} first={segment.filter} />;
      }}
    </Loaded>
  );
}

/** The first condition of a segment that another page links to. */
function firstOf({
  event,
  product,
  attribute,
  standard,
  value,
  filter,
}: ReturnType<typeof route.useSearch>): FilterJson | undefined {
  if (filter) return filterIn(filter);
  if (event) return { event, at_least: 1 };
  if (product) return { purchases: product, at_least: 1 };
  const wanted = value === undefined ? { exists: true } : { equals: valueIn(value) };
  if (standard) return { attribute: standard, ...wanted };
  return attribute ? { custom_attribute: attribute, ...wanted } : undefined;
}

interface EditProps {
  readonly segment: Segment | undefined;
  readonly first: FilterJson | undefined;
}

function Edit({ segment, first }: EditProps) {
  const [id] = useState(() => segment?.id ?? newId());
  const [group, setGroup] = useState<Group>(() => groupOf(first));
  const { name = "", description = "", tags = [] } = segment ?? {};
  const form = useForm({ initialValues: { name, description, tags: [...tags] } });
  const filter = filterOf(group);
  const [rested] = useDebouncedValue(filter, REST_MS);
  const missing = useMissing("edit_segments");
  const count = useSegmentCount(missing === undefined ? rested : undefined);
  return (
    <Page
      title={segment?.name ?? "New segment"}
      about={<PageLink to="/w/$workspace/segments">Segments</PageLink>}
    >
      <div className="segment-columns">
        <div className="stack">
          <Card title="Filter">
            <Builder group={group} change={setGroup} />
          </Card>
          <Card title="Segment">
            <div className="stack">
              <TextInput label="Name" maxLength={255} {...form.getInputProps("name")} />
              <TextInput
                label="What it is for"
                maxLength={1_000}
                {...form.getInputProps("description")}
              />
              <TagsInput
                label="Tags"
                description="Enter ends a tag."
                maxTags={50}
                {...form.getInputProps("tags")}
              />
              <Save
                id={id}
                segment={segment}
                draft={{ ...form.values, filter }}
                isOpen={isOpen(group)}
              />
            </div>
          </Card>
        </div>
        <div className="stack">
          {segment && <SizeOverTime id={segment.id} />}
          <SizeCard
            count={filter && count.data}
            isAsked={filter !== undefined}
            error={missing ?? count.error}
            isOld={count.isPlaceholderData}
          />
          {rested && (
            <ExactCount
              key={JSON.stringify(rested)}
              filter={rested}
              segment={sameFilter(rested, segment) ? segment : undefined}
            />
          )}
          {filter && (
            <Members
              filter={filter}
              fileName={segment?.name ?? "segment"}
              expected={count.data?.matching ?? undefined}
            />
          )}
        </div>
      </div>
    </Page>
  );
}

/** Whether a filter means the same as the stored one of the segment, in the builder's form or another. */
const sameFilter = (filter: FilterJson, segment: Segment | undefined): boolean =>
  segment !== undefined &&
  JSON.stringify(filter) === JSON.stringify(filterOf(groupOf(segment.filter)));

interface Draft {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly filter: FilterJson | undefined;
}

interface SaveProps {
  readonly id: string;
  readonly segment: Segment | undefined;
  readonly draft: Draft;
  /** Whether something is missing in a condition. */
  readonly isOpen: boolean;
}

function Save({ id, segment, draft, isOpen }: SaveProps) {
  const workspace = useWorkspace();
  const { put, remove } = useChangeSegments();
  const navigate = useNavigate();
  const { open, dialog } = useDialog();
  const needs = "edit_segments";
  const { name, description, tags, filter } = draft;
  const askToRemove = () =>
    open(
      <Confirm
        title={`Remove ${name}?`}
        action="Remove"
        run={async () => {
          await remove(id);
          tellDone(`${name} is removed.`);
          await navigate({ to: "/w/$workspace/segments", params: { workspace } });
        }}
      >
        Its recorded sizes are deleted too.
      </Confirm>,
    );
  const saving = useMutation({
    mutationFn: () =>
      put(id, {
        name: name.trim(),
        description,
        tags,
        filter: filter as never,
      } as never),
    onSuccess: () => {
      tellDone(`${name} is saved.`);
      if (!segment) {
        void navigate({ to: "/w/$workspace/segments/$id", params: { workspace, id } });
      }
    },
  });
  return (
    <>
      <SaveFailure error={saving.error} />
      <div className="toolbar">
        <PermittedButton
          needs={needs}
          loading={saving.isPending}
          disabled={name.trim() === "" || filter === undefined || isOpen}
          onClick={() => saving.mutate()}
        >
          Save
        </PermittedButton>
        {segment && (
          <PermittedButton needs={needs} variant="default" onClick={askToRemove}>
            Remove
          </PermittedButton>
        )}
      </div>
      {isOpen && filter && <p className="dim">A condition is not finished.</p>}
      <details>
        <summary>For a manifest, or as JSON</summary>
        <CodeBlock code={yamlOf(id, draft)} label="the segment for a manifest" />
      </details>
      {dialog}
    </>
  );
}

/** The segment as an entry of a manifest: JSON is YAML. */
const yamlOf = (id: string, { name, description, tags, filter }: Draft): string =>
  [
    `- id: ${id}`,
    `  name: ${JSON.stringify(name)}`,
    ...(description ? [`  description: ${JSON.stringify(description)}`] : []),
    ...(tags.length > 0 ? [`  tags: ${JSON.stringify(tags)}`] : []),
    `  filter: ${JSON.stringify(filter ?? {})}`,
  ].join("\n");
