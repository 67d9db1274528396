import { Button, NativeSelect } from "@mantine/core";
import { Plus } from "lucide-react";
import { ConditionFields } from "./condition.tsx";
import { type Condition, type Group, isGroup, newCondition, newKey } from "./filter-model.ts";
import { SUBJECTS } from "./subjects.ts";

interface BuilderProps {
  readonly workspace: string;
  readonly group: Group;
  /** Before the numbers of its conditions, in a group of a group. */
  readonly prefix?: string;
  change(group: Group): void;
  readonly remove?: () => void;
}

/** A group of conditions, of which all or any have to hold, and of groups. */
export function Builder({ workspace, group, prefix = "", change, remove }: BuilderProps) {
  const isInner = remove !== undefined;
  const set = (items: Group["items"]) => change({ ...group, items });
  const replace = (index: number, item: Condition | Group) =>
    set(group.items.map((each, place) => (place === index ? item : each)));
  const drop = (index: number) => set(group.items.filter((_, place) => place !== index));
  const add = () => set([...group.items, newCondition(SUBJECTS[0]?.initial ?? {})]);
  const addGroup = () =>
    set([
      ...group.items,
      { key: newKey(), op: "any", items: [newCondition(SUBJECTS[0]?.initial ?? {})] },
    ]);
  return (
    <section className={isInner ? "condition-group inner" : "condition-group"}>
      <NativeSelect
        label={isInner ? `Of group ${prefix.slice(0, -1)}` : "Users match"}
        value={group.op}
        data={[
          { value: "all", label: "all of these" },
          { value: "any", label: "any of these" },
        ]}
        onChange={(event) => change({ ...group, op: event.currentTarget.value as Group["op"] })}
      />
      {group.items.map((item, index) => {
        const number = `${prefix}${index + 1}`;
        return isGroup(item) ? (
          <Builder
            key={item.key}
            workspace={workspace}
            group={item}
            prefix={`${number}.`}
            change={(next) => replace(index, next)}
            remove={() => drop(index)}
          />
        ) : (
          <ConditionFields
            key={item.key}
            workspace={workspace}
            condition={item}
            number={number}
            change={(next) => replace(index, next)}
            remove={() => drop(index)}
          />
        );
      })}
      <div className="toolbar">
        <Button variant="default" size="xs" leftSection={<Plus size={14} />} onClick={add}>
          Add a condition{isInner ? ` to group ${prefix.slice(0, -1)}` : ""}
        </Button>
        {isInner ? (
          <Button variant="subtle" size="xs" onClick={remove}>
            Remove group {prefix.slice(0, -1)}
          </Button>
        ) : (
          <Button variant="default" size="xs" leftSection={<Plus size={14} />} onClick={addGroup}>
            Add a group
          </Button>
        )}
      </div>
    </section>
  );
}
