import { Select, TextInput } from "@mantine/core";
import { Bell } from "lucide-react";
import { GROUPS, useChangeEntries } from "../../api/entries.ts";
import { type Group, useGroups } from "../../api/groups.ts";
import { Id } from "../../components/code-block.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Entries } from "../../components/entries.tsx";
import { required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { channelName } from "../../components/tag.tsx";

const COLUMNS: readonly Column<Group>[] = [
  column("Name", (group) => (
    <>
      <DeclaredName of={group} />
      {group.description && <div className="dim">{group.description}</div>}
    </>
  )),
  column("Channel", { width: "8rem" }, ({ channel }) => channelName(channel)),
  column("Id", { width: "38%" }, ({ id }) => <Id value={id} />),
];

const CHANNELS = (["email", "sms", "whatsapp"] as const).map((value) => ({
  value,
  label: channelName(value),
}));

export function GroupsPage() {
  const { save, remove } = useChangeEntries(GROUPS);
  return (
    <Entries
      title="Subscription groups"
      about="Lists of messages that users can subscribe to, per channel. Preference centers show these."
      noun="group"
      icon={Bell}
      purpose="A group is a choice for users, such as a newsletter. Add the first one here, or declare it in a manifest."
      isPage
      from={useGroups()}
      needs="manage_subscription_groups"
      columns={COLUMNS}
      rows={({ subscription_groups }) => subscription_groups}
      initial={(group: Group = NEW()) => ({ description: "", ...group })}
      validate={{ id: required }}
      fields={(form, isNew) => (
        <>
          <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          <TextInput
            label="Description"
            description="A description for subscribers. Preference pages show it below the name."
            placeholder="News, once a month."
            maxLength={500}
            {...form.getInputProps("description")}
          />
          <Select label="Channel" data={CHANNELS} {...form.getInputProps("channel")} />
          <TextInput
            label="Id"
            description="The subscription_group_id that clients send."
            disabled={!isNew}
            {...form.getInputProps("id")}
          />
        </>
      )}
      save={({ id, description, declared: _, ...group }, isNew) => {
        const text = description.trim();
        return save(
          id,
          { ...group, ...((text || !isNew) && { description: text || null }) },
          isNew,
        );
      }}
      remove={({ id }) => remove(id)}
      removal="Preference centers no longer show it, and requests that name it are refused."
    />
  );
}

const NEW = (): Group => ({ id: newId(), name: "", channel: "email", declared: false });
