import type { RowData } from "@tanstack/react-table";
import { type LucideIcon, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { LoadedTable, type LoadedTableProps } from "./loaded-table.tsx";
import { Card, Page } from "./page.tsx";
import { type Needs, PermittedButton } from "./permitted.tsx";
import { Empty } from "./states.tsx";

export interface ListProps<Body, Entry extends RowData>
  extends Omit<LoadedTableProps<Body, Entry>, "label" | "empty"> {
  readonly title: string;
  /** One sentence: the purpose of the list. */
  readonly about: string;
  /** The entries, such as `Integrations`; by default the title. */
  readonly label?: string;
  readonly icon: LucideIcon;
  /** The use of an entry, shown while there is none. */
  readonly purpose: string;
  /** Whether the list is a separate page, not a card. */
  readonly isPage?: boolean;
  /** The permission that changing an entry needs. */
  readonly needs: Needs;
  /** The label of the button that adds an entry. */
  readonly adds: string;
  add(): void;
  /** Dialogs. */
  readonly children?: ReactNode;
}

/** A list with a button that adds an entry: a page, or a card of one. */
export function List<Body, Entry extends RowData>(props: ListProps<Body, Entry>) {
  const { title, about, label = title, icon, purpose, isPage = false, ...others } = props;
  const { needs, adds, add, children, ...table } = others;
  const frame = {
    title,
    about,
    actions: (
      <PermittedButton
        needs={needs}
        {...(!isPage && { size: "xs" })}
        leftSection={<Plus size={isPage ? 15 : 14} />}
        onClick={add}
      >
        {adds}
      </PermittedButton>
    ),
  };
  const content = (
    <>
      <LoadedTable
        {...table}
        label={label}
        empty={
          <Empty icon={icon} title={`No ${label.toLowerCase()} yet`}>
            {purpose}
          </Empty>
        }
      />
      {children}
    </>
  );
  return isPage ? (
    <Page {...frame}>{content}</Page>
  ) : (
    <Card {...frame} flush>
      {content}
    </Card>
  );
}
