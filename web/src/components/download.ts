/** Gives the browser a file to keep. */
export function download(fileName: string, content: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser has read it by then; there is no event that says so.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
