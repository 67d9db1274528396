/** Gives the browser a file to keep. */
export function download(fileName: string, content: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  // By then the browser has read it; no event reports that.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
