/*
 * Whether a person is at the page. The automatic requests of an open page must not keep the session
 * alive: it goes idle when nobody has touched the page for a while.
 */

const ATTENDED_MS = 60_000;

let lastTouch = Date.now();

for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "focus"]) {
  const options = { passive: true, capture: true };
  window.addEventListener(
    event,
    () => {
      lastTouch = Date.now();
    },
    options,
  );
}

/** The header of a request that no user action has caused. */
export const unattended = (): [name: string, value: string][] =>
  Date.now() - lastTouch > ATTENDED_MS ? [["X-Rapport-Unattended", "1"]] : [];
