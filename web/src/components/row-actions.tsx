import { ActionIcon, Menu } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { type Needs, PermittedIcon, useMissing } from "./permitted.tsx";

interface RowActionsProps {
  readonly of: string;
  /** Without it everyone who sees the row has the actions. */
  readonly needs?: Needs;
  readonly children: ReactNode;
}

/** The actions of a row, at its end; people who lack the permission see a note. */
export function RowActions({ of: name, needs, children }: RowActionsProps) {
  const isForbidden = useMissing(needs) !== undefined;
  const label = `Actions for ${name}`;
  const icon = <Ellipsis size={16} />;
  if (isForbidden) {
    return (
      <PermittedIcon needs={needs} label={label}>
        {icon}
      </PermittedIcon>
    );
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label}>
          {icon}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
