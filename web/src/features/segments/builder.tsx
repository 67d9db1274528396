import { Button, NativeSelect } from "@mantine/core";
import { Plus } from "lucide-react";
import { ConditionFields } from "./condition.tsx";
import {
  type Condition,
  fitsBelow,
  type Group,
  isGroup,
  levelsOf,
  newCondition,
  newGroup,
} from "./filter-model.ts";

interface BuilderProps {
  readonly group: Group;
  /** Before the numbers of its conditions, in a group of a group. */
  readonly prefix?: string;
  /** How many levels of the filter are above it. */
  readonly above?: number;
  change(group: Group): void;
  readonly remove?: () => void;
}

/** The mode of a group, as the value of a list. */
const MATCHES = [
  { value: "all", label: "all of these", op: "all", isNot: false },
  { value: "any", label: "any of these", op: "any", isNot: false },
  { value: "none", label: "none of these", op: "any", isNot: true },
  { value: "not-all", label: "not all of these", op: "all", isNot: true },
] as const;

const matchOf = ({ op, isNot }: Group) =>
  MATCHES.find((each) => each.op === op && each.isNot === isNot) ?? MATCHES[0];

/** A group of conditions and groups: all, any or none of them have to be met. */
export function Builder({ group, prefix = "", above = 0, change, remove }: BuilderProps) {
  const isInner = remove !== undefined;
  const number = prefix.slice(0, -1);
  const levels = above + levelsOf(group);
  const set = (items: Group["items"]) => change({ ...group, items });
  const replace = (index: number, item: Condition | Group) =>
    set(group.items.map((each, place) => (place === index ? item : each)));
  const drop = (index: number) => set(group.items.filter((_, place) => place !== index));
  const choose = (value: string) => {
    const { op, isNot } = MATCHES.find((each) => each.value === value) ?? MATCHES[0];
    change({ ...group, op, isNot });
  };
  return (
    <section
      className={isInner ? "condition-group inner" : "condition-group"}
      {...(isInner && { "aria-label": `Group ${number}` })}
    >
      <NativeSelect
        label={isInner ? `Of group ${number}` : "Users match"}
        value={matchOf(group).value}
        data={MATCHES.map(({ value, label }) => ({ value, label }))}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {group.items.map((item, index) => {
        const numbered = `${prefix}${index + 1}`;
        return isGroup(item) ? (
          <Builder
            key={item.key}
            group={item}
            prefix={`${numbered}.`}
            above={levels}
            change={(next) => replace(index, next)}
            remove={() => drop(index)}
          />
        ) : (
          <ConditionFields
            key={item.key}
            condition={item}
            number={numbered}
            change={(next) => replace(index, next)}
            remove={() => drop(index)}
          />
        );
      })}
      <div className="toolbar">
        <Add
          what={isInner ? `a condition to group ${number}` : "a condition"}
          add={() => set([...group.items, newCondition()])}
        />
        {fitsBelow(levels) && (
          <Add
            what={isInner ? `a group to group ${number}` : "a group"}
            add={() => set([...group.items, newGroup()])}
          />
        )}
        {isInner && (
          <Button variant="subtle" size="xs" onClick={remove}>
            Remove group {number}
          </Button>
        )}
      </div>
    </section>
  );
}

const Add = ({ what, add }: { readonly what: string; add(): void }) => (
  <Button variant="default" size="xs" leftSection={<Plus size={14} />} onClick={add}>
    Add {what}
  </Button>
);
