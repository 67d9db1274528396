import { useDocumentVisibility } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { filled } from "../../api/pages.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { type LiveRequest, putFirst, type RequestFilter, refreshRequests } from "./api.ts";

export type StreamState = "paused" | "connecting" | "live" | "reconnecting" | "polling";

/** After a refusal, such as for too many streams, the stream is tried again after so long. */
const TRY_AGAIN_MS = 30_000;

/** A browser that cannot follow a stream asks for the list. */
const HAS_STREAMS = typeof EventSource === "function";

interface Stream {
  readonly state: StreamState;
  /** How many requests came in too fast to be shown since the stream was opened. */
  readonly skipped: number;
}

/**
 * Puts new requests above the list while it is live. A hidden page has no stream. The browser
 * reopens a lost one; a refused one is tried again later, and until then the list is requested.
 */
export function useStream(filter: RequestFilter, isWanted: boolean): Stream {
  const workspace = useWorkspace();
  const [state, setState] = useState<StreamState>(HAS_STREAMS ? "connecting" : "polling");
  const [skipped, setSkipped] = useState(0);
  const isVisible = useDocumentVisibility() === "visible";
  const wanted = JSON.stringify(filter);
  const isOpen = isWanted && isVisible && HAS_STREAMS;
  useEffect(() => {
    if (!isOpen) return;
    const filtered = JSON.parse(wanted) as RequestFilter;
    let source: EventSource;
    let again: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      source = new EventSource(addressOf(workspace, filtered));
      source.onopen = () => {
        setState("live");
        void refreshRequests(workspace, filtered);
      };
      source.onerror = () => {
        const isRefused = source.readyState === EventSource.CLOSED;
        setState(isRefused ? "polling" : "reconnecting");
        if (isRefused) again = setTimeout(open, TRY_AGAIN_MS);
      };
      source.addEventListener("request", ({ data }) =>
        putFirst(workspace, filtered, JSON.parse(String(data)) as LiveRequest),
      );
      source.addEventListener("skipped", ({ data }) => {
        const { skipped: count } = JSON.parse(String(data)) as { readonly skipped: number };
        setSkipped((before) => before + count);
      });
    };
    setState("connecting");
    setSkipped(0);
    open();
    return () => {
      clearTimeout(again);
      source.close();
    };
  }, [workspace, wanted, isOpen]);
  return { state: isWanted ? state : "paused", skipped };
}

function addressOf(workspace: string, filter: RequestFilter): string {
  const query = new URLSearchParams(filled(filter) as Record<string, string>);
  return `/admin/v1/workspaces/${encodeURIComponent(workspace)}/requests/stream?${query}`;
}
