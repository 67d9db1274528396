/** The most that is shown under the pointer. */
const MOST_CHARACTERS = 500;

/**
 * A text that users sent, on one line and in its own direction. Hover to see a text that is cut off
 * at its end.
 */
export const CutOff = ({ text }: { readonly text: string }) => (
  <span className="cut-off" dir="auto" title={text.slice(0, MOST_CHARACTERS)}>
    {text}
  </span>
);
