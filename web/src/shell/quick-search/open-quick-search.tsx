import { ActionIcon } from "@mantine/core";
import { useDisclosure, useHotkeys, useOs } from "@mantine/hooks";
import { Search } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { tellFailed } from "../../components/feedback.tsx";

/** When the page itself has loaded. */
const LOAD_AFTER_MS = 1_000;

type View = typeof import("./quick-search.tsx")["QuickSearch"];

interface Opened {
  open(): void;
  /** The search while it is open. */
  readonly dialog: ReactNode;
}

/** The quick search, which Ctrl K or ⌘ K opens on every page and from within every field. */
export function useQuickSearch(workspace: string | undefined): Opened {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [View, setView] = useState<View>();
  const load = useCallback(async () => {
    const { QuickSearch } = await import("./quick-search.tsx");
    setView(() => QuickSearch);
  }, []);
  useEffect(() => {
    // Loaded before it is needed, and not with `lazy`: it has the focus at once, so that no letter typed right after
    // the key is lost.
    const timer = setTimeout(() => void load().catch(() => undefined), LOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, [load]);
  const show = () => {
    open();
    if (!View) void load().catch(tellFailed);
  };
  // A form that is being filled in is not left by a key. The search itself is a dialog too, which the key closes.
  const toggle = () => {
    if (isOpen) close();
    else if (document.querySelector("[role=dialog]") === null) show();
  };
  useHotkeys([["mod+K", toggle]], [], true);
  return { open: show, dialog: isOpen && View && <View workspace={workspace} close={close} /> };
}

interface OpenerProps {
  open(): void;
}

/** In the navigation. */
export function QuickSearchButton({ open }: OpenerProps) {
  const isMac = ["macos", "ios"].includes(useOs());
  return (
    <button
      type="button"
      className="sidebar-button search-button"
      aria-keyshortcuts={isMac ? "Meta+K" : "Control+K"}
      onClick={open}
    >
      <Search size={16} aria-hidden />
      Search
      <kbd aria-hidden>{isMac ? "⌘ K" : "Ctrl K"}</kbd>
    </button>
  );
}

/** In the bar at the top of a phone. */
export const QuickSearchIcon = ({ open }: OpenerProps) => (
  <ActionIcon variant="subtle" color="gray" onClick={open} aria-label="Search">
    <Search size={20} />
  </ActionIcon>
);
