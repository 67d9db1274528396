import { useEffect, useState } from "react";

/**
 * Gives the focus back to what opened a dialog when the dialog closes: the library does so only for dialogs that are
 * there before they open. Where the opener is gone, the page has the focus, not the document.
 */
export function useReturnFocus(): void {
  // The first time it is drawn, the dialog does not have the focus yet.
  const [opener] = useState(openerOfDialog);
  useEffect(
    () => () => {
      if (document.activeElement !== null && document.activeElement !== document.body) return;
      const next = opener?.isConnected ? opener : document.getElementById("main");
      next?.focus({ preventScroll: true });
    },
    [opener],
  );
}

/** Of an entry of a menu, which closes, the button of the menu. */
function openerOfDialog(): HTMLElement | null {
  const active = document.activeElement;
  const button = active?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  const opener = button ? document.getElementById(button) : active;
  return opener instanceof HTMLElement ? opener : null;
}
