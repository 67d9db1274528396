/** How the command line is called where the server runs, as the server wrote it into the page. */
export const RAPPORT =
  document.querySelector<HTMLMetaElement>('meta[name="rapport-command"]')?.content ?? "rapport";
