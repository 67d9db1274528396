import { createContext, useContext, useEffect, useState } from "react";

/**
 * Remembers what opened a part whose file had to be loaded first: the menu with its entry may have
 * closed meanwhile.
 */
export const OpenerOfPart = createContext<HTMLElement | null>(null);

/**
 * Gives the focus back to the element that opened a dialog when the dialog closes: the library does
 * so only for dialogs that exist before they open. If the opener no longer exists, the page gets
 * the focus, not the document.
 */
export function useReturnFocus(): void {
  const openerOfPart = useContext(OpenerOfPart);
  // The first time it is drawn, the dialog does not have the focus yet.
  const [opener] = useState(() => openerOfDialog() ?? openerOfPart);
  useEffect(
    () => () => {
      if (document.activeElement !== null && document.activeElement !== document.body) return;
      const next = opener?.isConnected ? opener : document.getElementById("main");
      next?.focus({ preventScroll: true });
    },
    [opener],
  );
}

/** The focused element; for an entry of a closing menu, the button of the menu. */
export function openerOfDialog(): HTMLElement | null {
  const active = document.activeElement;
  if (active === document.body) return null;
  const button = active?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  const opener = button ? document.getElementById(button) : active;
  return opener instanceof HTMLElement ? opener : null;
}
