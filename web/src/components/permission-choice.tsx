import { Checkbox, Stack } from "@mantine/core";
import {
  COMPANY_NOTES,
  COMPANY_PERMISSIONS,
  WORKSPACE_NOTES,
  WORKSPACE_PERMISSIONS,
} from "../../../src/core/base/context/dashboard-permissions.ts";

interface PermissionChoiceProps {
  readonly of: "workspace" | "company";
  readonly value?: readonly string[];
  onChange?(value: string[]): void;
}

/** Permissions to choose from, each with a sentence about what it allows here. Those that allow nothing are folded away. */
export function PermissionChoice({ of, value = [], onChange }: PermissionChoiceProps) {
  const all: readonly string[] = of === "company" ? COMPANY_PERMISSIONS : WORKSPACE_PERMISSIONS;
  const notes: Readonly<Record<string, string>> =
    of === "company" ? COMPANY_NOTES : WORKSPACE_NOTES;
  const box = (name: string) => (
    <Checkbox
      key={name}
      value={name}
      label={name}
      {...(notes[name] !== undefined && { description: notes[name] })}
    />
  );
  const others = all.filter((name) => notes[name] === undefined);
  return (
    <Checkbox.Group label="Permissions" value={[...value]} {...(onChange && { onChange })}>
      <Stack gap="sm" mt="xs">
        {all.filter((name) => notes[name] !== undefined).map(box)}
        {others.length > 0 && (
          <details open={value.some((name) => others.includes(name))}>
            <summary className="dim">
              {others.length} more that permit nothing here, for identity providers that send them
            </summary>
            <Stack gap="sm" mt="xs">
              {others.map(box)}
            </Stack>
          </details>
        )}
      </Stack>
    </Checkbox.Group>
  );
}
