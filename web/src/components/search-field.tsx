import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback, useHotkeys } from "@mantine/hooks";
import { useRouter } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";

/** How long typing rests before the list follows. */
const REST_MS = 200;

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** The search text, as in the address. */
  readonly value: string | undefined;
  /** Whether typing begins here as soon as the page is open. */
  readonly isFirst?: boolean;
  /** One of several fields: its label is shown, and it has no shortcut. */
  readonly isFilter?: boolean;
  search(wanted: string): void;
}

/**
 * The field that narrows a list down. It follows the address, so that links and "Back" show their
 * search.
 */
export function SearchField(props: SearchFieldProps) {
  const { label, placeholder, value = "", isFirst = false, isFilter = false, search } = props;
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const sent = useRef(value);
  const { history } = useRouter();
  // A page stays on the screen while the next one loads: what was typed there leads nobody back.
  const send = useDebouncedCallback((wanted: string, path: string) => {
    if (history.location.pathname !== path) return;
    sent.current = wanted.trim();
    search(sent.current);
  }, REST_MS);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  useHotkeys(isFilter ? [] : [["/", () => field.current?.focus()]]);
  const change = (wanted: string) => {
    setText(wanted);
    send(wanted, history.location.pathname);
  };
  return (
    <TextInput
      ref={field}
      autoFocus={isFirst}
      className={isFilter ? "filter" : "grow"}
      {...(isFilter ? { label } : { "aria-label": label, leftSection: <Search size={15} /> })}
      placeholder={placeholder}
      value={text}
      maxLength={1_000}
      rightSection={text === "" ? !isFilter && <KeyHint /> : <Clear clear={() => change("")} />}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

const KeyHint = () => (
  <kbd className="wide-only" aria-hidden>
    /
  </kbd>
);

const Clear = ({ clear }: { clear(): void }) => (
  <CloseButton size="sm" aria-label="Clear" onClick={clear} />
);
