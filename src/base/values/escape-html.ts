const WRITTEN: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text as it is written in HTML, in an element or in an attribute with quotes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => WRITTEN[character] ?? character);
