import { ActionIcon, Menu } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";

/** What can be done with a row, at its end. */
export const RowActions = ({
  of: name,
  children,
}: {
  readonly of: string;
  readonly children: ReactNode;
}) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Actions for ${name}`}>
        <Ellipsis size={16} />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
);
