import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { type Needed, useMissing } from "./permitted.tsx";

interface RowActionsProps {
  readonly of: string;
  /** Without it the actions are for everybody who sees the row. */
  readonly needed?: Needed;
  readonly children: ReactNode;
}

/** What can be done with a row, at its end; for those who lack the permission it says so. */
export function RowActions({ of: name, needed, children }: RowActionsProps) {
  const missing = useMissing(needed);
  const icon = {
    variant: "subtle",
    color: "gray",
    size: "sm",
    "aria-label": `Actions for ${name}`,
  } as const;
  if (missing !== undefined) {
    return (
      <Tooltip label={missing} events={{ hover: true, focus: true, touch: true }}>
        <ActionIcon {...icon} data-disabled aria-disabled aria-description={missing}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Tooltip>
    );
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon {...icon}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
