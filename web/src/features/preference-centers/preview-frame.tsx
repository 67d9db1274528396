import { SegmentedControl, Select, TextInput } from "@mantine/core";
import { useCallback, useEffect, useRef } from "react";
import { messageOf } from "../../api/api-error.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Notice } from "../../components/states.tsx";
import { previewAddress } from "./api.ts";

/** The user, the language and the screen for which a page is shown. */
export interface Shown {
  /** Empty for a sample user. */
  readonly externalId: string;
  /** Empty for the user's own. */
  readonly locale: string;
  readonly screen: "wide" | "phone";
}

interface PreviewFrameProps {
  readonly id: string;
  readonly html: string | undefined;
  /** Why the person sees no preview. */
  readonly missing: string | undefined;
  readonly error: unknown;
  readonly shown: Shown;
  readonly locales: readonly string[];
  setShown(shown: Shown): void;
}

/**
 * The page as a user sees it. The frame loads the stored page, whose headers forbid scripts and
 * allow its own styles, and then shows the unsaved text in the same document: the dashboard's own
 * policy, which a frame without an address would inherit, allows no inline styles.
 */
export function PreviewFrame(props: PreviewFrameProps) {
  const workspace = useWorkspace();
  const { id, html, missing, error, shown, locales, setShown } = props;
  const frame = useRef<HTMLIFrameElement>(null);
  const fill = useCallback(() => {
    const view = frame.current?.contentWindow;
    if (html === undefined || !view || view.location.href === "about:blank") return;
    // Parsed by the frame itself, so that only its policy counts.
    const { DOMParser: Parser } = view as Window & typeof globalThis;
    const parsed = new Parser().parseFromString(html, "text/html");
    view.document.documentElement.replaceWith(view.document.adoptNode(parsed.documentElement));
  }, [html]);
  useEffect(fill, [fill]);
  return (
    <section className="card preview" aria-label="Preview">
      <div className="card-head">
        <TextInput
          size="xs"
          className="grow"
          aria-label="External id of the user to preview"
          placeholder="A sample user, or an external id"
          value={shown.externalId}
          onChange={(event) => setShown({ ...shown, externalId: event.currentTarget.value })}
        />
        <Select
          size="xs"
          w="8rem"
          aria-label="Language of the preview"
          value={shown.locale}
          searchable
          data={[
            { value: "", label: "The user's" },
            ...[...new Set(locales)].map((value) => ({ value, label: value })),
          ]}
          onChange={(locale) => setShown({ ...shown, locale: locale ?? "" })}
        />
        <SegmentedControl
          size="xs"
          aria-label="Screen"
          data={[
            { value: "wide", label: "Wide" },
            { value: "phone", label: "Phone" },
          ]}
          value={shown.screen}
          onChange={(screen) => setShown({ ...shown, screen: screen as Shown["screen"] })}
        />
      </div>
      {missing && (
        <div className="card-body">
          <Notice>{missing}</Notice>
        </div>
      )}
      {error ? (
        <div className="card-body">
          <Notice tone="bad">{messageOf(error)}</Notice>
        </div>
      ) : null}
      {missing === undefined && (
        <div className="preview-body">
          <iframe
            ref={frame}
            title="Preview of the page"
            src={previewAddress(workspace, id)}
            sandbox="allow-same-origin"
            data-screen={shown.screen}
            onLoad={fill}
          />
        </div>
      )}
    </section>
  );
}
