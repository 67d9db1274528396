import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";

interface PageTabsProps {
  readonly tabs: readonly (readonly [name: string, label: string])[];
  readonly shown: string;
  show(name: string): void;
  readonly children: ReactNode;
}

/** Tabs, and the content of the shown one. */
export const PageTabs = ({ tabs, shown, show, children }: PageTabsProps) => (
  <Tabs value={shown} keepMounted={false} onChange={(name) => name && show(name)}>
    <Tabs.List mb="md" className="tabs-list">
      {tabs.map(([name, label]) => (
        <Tabs.Tab key={name} value={name}>
          {label}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {tabs.map(([name]) => (
      <Tabs.Panel key={name} value={name}>
        {name === shown && children}
      </Tabs.Panel>
    ))}
  </Tabs>
);
