import { ActionIcon, Drawer } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useLocation } from "@tanstack/react-router";
import { Menu as MenuIcon } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Logo } from "./logo.tsx";
import { QuickSearchIcon, useQuickSearch } from "./quick-search/open-quick-search.tsx";
import { useShownWorkspace } from "./shown-workspace.ts";
import { Sidebar } from "./sidebar.tsx";

/** The frame of every page: the navigation beside it, or behind a button on a phone. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const workspace = useShownWorkspace();
  const [isOpen, { open, close }] = useDisclosure(false);
  const search = useQuickSearch(workspace);
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    close();
    // Readers of screens and keyboards continue in the new page, not in the old link.
    main.current?.focus({ preventScroll: true });
  }, [pathname, close]);
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the page
      </a>
      <Sidebar workspace={workspace} openSearch={search.open} />
      <div>
        <nav className="topbar" aria-label="Top">
          <ActionIcon variant="subtle" color="gray" onClick={open} aria-label="Open the navigation">
            <MenuIcon size={20} />
          </ActionIcon>
          <Logo size={22} />
          <strong className="one-line">{workspace ?? "Rapport"}</strong>
          <QuickSearchIcon open={search.open} />
        </nav>
        <main id="main" ref={main} className="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Drawer
        opened={isOpen}
        onClose={close}
        size="18rem"
        title="Navigation"
        className="drawer"
        closeButtonProps={{ "aria-label": "Close the navigation" }}
      >
        <Sidebar workspace={workspace} openSearch={search.open} />
      </Drawer>
      {search.dialog}
    </div>
  );
}
