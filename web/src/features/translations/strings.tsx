import { Button, Select, Switch } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { CircleCheck, Languages, SearchX } from "lucide-react";
import { useMemo, useRef } from "react";
import { type Locale, type Message, useLocales, useMessage } from "../../api/messages.ts";
import { useMissing } from "../../components/permitted.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import { Grid } from "./grid.tsx";
import { shownStrings } from "./shown-strings.ts";

const route = getRouteApi("/w/$workspace/translations");

/** The strings of one message, with what narrows them down. */
export function Strings({ id }: { readonly id: string }) {
  const message = useMessage(id);
  const locales = useLocales();
  return (
    <Loaded from={message} lines={12}>
      {(body) => (
        <Loaded from={locales} lines={12}>
          {(known) => <Filtered message={body} locales={known.locales} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface FilteredProps {
  readonly message: Message;
  readonly locales: readonly Locale[];
}

function Filtered({ message, locales: all }: FilteredProps) {
  const { find = "", show = "", locale: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const isPhone = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const set = (change: { find?: string; show?: string; locale?: string }) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  // A phone has room for one locale.
  const only =
    all.find(({ locale_key }) => locale_key === chosen) ?? (isPhone ? all[0] : undefined);
  const locales = useMemo(() => (only ? [only] : all), [only, all]);
  const forbidden = useMissing("send_campaigns_canvases");
  const keys = useShown(message, locales, { find, isMissing: show === "missing" });
  if (Object.keys(message.source).length === 0) return <NoStrings />;
  return (
    <div className="stack">
      {!message.multi_language && (
        <Notice tone="warn" title="These translations are not used">
          The message is not multi-language: it is sent as written.
        </Notice>
      )}
      {all.length === 0 ? (
        <NoLocales />
      ) : (
        <>
          <search className="toolbar">
            <SearchField
              label="Find strings"
              placeholder="Find an id, a source text or a translation"
              value={find}
              search={(wanted) => set({ find: wanted })}
            />
            <Select
              aria-label="Locale"
              w="12rem"
              searchable
              value={only?.locale_key ?? ""}
              data={[
                ...(isPhone ? [] : [{ value: "", label: "All locales" }]),
                ...all.map(({ name, locale_key }) => ({ value: locale_key, label: name })),
              ]}
              onChange={(locale) => set({ locale: locale ?? "" })}
            />
            <Switch
              label="Missing only"
              style={{ alignSelf: "center" }}
              checked={show === "missing"}
              onChange={(event) => set({ show: event.currentTarget.checked ? "missing" : "" })}
            />
          </search>
          {keys.length > 0 ? (
            <>
              {forbidden ? (
                <Notice title="You may read these translations, not change them">
                  {forbidden}
                </Notice>
              ) : (
                <p className="grid-hint">
                  Arrow keys move, <kbd>Enter</kbd> edits, <kbd>Ctrl</kbd> <kbd>Enter</kbd> saves
                  and goes down, <kbd>Esc</kbd> discards, <kbd>Tab</kbd> leaves the grid.
                </p>
              )}
              <Grid message={message} locales={locales} keys={keys} />
            </>
          ) : (
            <NothingShown
              isMissing={show === "missing" && !find}
              clear={() => set({ find: "", show: "" })}
            />
          )}
        </>
      )}
    </div>
  );
}

/**
 * The result of the filter when it was set: a string that is translated meanwhile stays, so that
 * nothing moves while a person translates.
 */
function useShown(
  message: Message,
  locales: readonly Locale[],
  { find, isMissing }: { readonly find: string; readonly isMissing: boolean },
): readonly string[] {
  const latest = useRef(message);
  latest.current = message;
  const { source } = message;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only other strings change the result, not other texts
  return useMemo(
    () => shownStrings(latest.current, locales, { find, isMissing }),
    [source, locales, find, isMissing],
  );
}

const NoStrings = () => (
  <Empty isFramed icon={Languages} title="This message has no strings to translate">
    Mark them in its content: {"{% translation hello %}Hello{% endtranslation %}"}
  </Empty>
);

function NoLocales() {
  const navigate = route.useNavigate();
  return (
    <Empty
      isFramed
      icon={Languages}
      title="No locales yet"
      action={
        <Button
          mt="xs"
          onClick={() => void navigate({ search: (now) => ({ ...now, tab: "locales" }) })}
        >
          Add a locale
        </Button>
      }
    >
      A locale is a language that messages are translated into. Each one becomes a column here.
    </Empty>
  );
}

const NothingShown = ({ isMissing, clear }: { readonly isMissing: boolean; clear(): void }) => (
  <Empty
    isFramed
    icon={isMissing ? CircleCheck : SearchX}
    title={isMissing ? "Every string is translated" : "No string matches"}
    action={
      <Button mt="xs" variant="default" onClick={clear}>
        Show all strings
      </Button>
    }
  >
    {isMissing
      ? "Nothing is missing in the locales that are shown."
      : "The search compares ids, source texts and translations."}
  </Empty>
);
