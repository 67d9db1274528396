import { ActionIcon, CopyButton, Tooltip } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import type { ReactNode } from "react";

interface CodeBlockProps {
  readonly code: string;
  /** What it is, for the button that copies it. */
  readonly label: string;
  /** The code with colours. */
  readonly children?: ReactNode;
}

/** Code with a button that copies it. */
export function CodeBlock({ code, label, children }: CodeBlockProps) {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard */}
      <pre tabIndex={0}>{children ?? code}</pre>
      <div className="copy">
        <CopyText text={code} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}

/** An id as requests name it, with a button that copies it. */
export const Id = ({ value }: { readonly value: string }) => (
  <span className="above">
    <span className="mono dim">{value}</span> <CopyText text={value} label="Copy the id" />
  </span>
);

/** A button that copies a text. */
export function CopyText({
  text,
  label = "Copy",
}: {
  readonly text: string;
  readonly label?: string;
}) {
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? "Copied" : label}>
          <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={label}>
            {copied ? <Check size={14} /> : <Copy size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
