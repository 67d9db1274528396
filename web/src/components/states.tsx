import { Button, Skeleton } from "@mantine/core";
import {
  CircleAlert,
  CircleCheck,
  Compass,
  Info,
  Lock,
  type LucideIcon,
  TriangleAlert,
} from "lucide-react";
import type { ReactNode } from "react";
import { ApiError, messageOf } from "../api/api-error.ts";
import { CodeBlock, CopyText } from "./code-block.tsx";
import { Page } from "./page.tsx";

/* The page before there is something to show: loading, empty, failed. Every page uses these. */

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  /** A command that fills the page. */
  readonly command?: string;
  readonly action?: ReactNode;
  /** Whether it stands where a table would. */
  readonly isFramed?: boolean;
}

export function Empty(props: EmptyProps) {
  const { icon: Icon, title, children, command, action, isFramed = false } = props;
  return (
    <div className={isFramed ? "empty table-frame" : "empty"}>
      <Icon size={28} strokeWidth={1.5} aria-hidden />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
      {command && <CodeBlock code={command} label="command" />}
    </div>
  );
}

/** Lines instead of the content that is being loaded. */
export function Loading({ lines = 6 }: { readonly lines?: number }) {
  return (
    <div role="status" aria-label="Loading" className="card-body stack">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <Skeleton key={line} height={18} radius="sm" width={`${92 - ((line * 17) % 40)}%`} />
      ))}
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
}

interface Failing {
  readonly icon: LucideIcon;
  readonly title: string;
  /** Whether another try would end the same way. */
  readonly isFinal?: boolean;
}

const FAILED: Failing = { icon: CircleAlert, title: "This could not be loaded" };

const FAILURES: Readonly<Record<number, Failing>> = {
  403: { icon: Lock, title: "You may not see this", isFinal: true },
  404: { icon: Compass, title: "This does not exist, or not any more", isFinal: true },
};

export function Failure({ error, retry }: FailureProps) {
  const status = error instanceof ApiError ? error.status : undefined;
  const requestId = error instanceof ApiError ? error.requestId : null;
  const { icon: Icon, title, isFinal = false } = FAILURES[status ?? 0] ?? FAILED;
  return (
    <div className="empty" role="alert">
      <Icon size={28} strokeWidth={1.5} aria-hidden />
      <h2>{title}</h2>
      <p>{messageOf(error)}</p>
      {requestId && !isFinal && (
        <p className="mono">
          Request {requestId} <CopyText text={requestId} label="Copy the id of the request" />
        </p>
      )}
      {retry && !isFinal && (
        <Button variant="default" size="xs" mt="xs" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && FAILURES[error.status] !== undefined;

const OutOfDate = ({ retry }: { retry(): void }) => (
  <div className="above-content">
    <Notice tone="warn">
      This could not be refreshed and may be out of date.{" "}
      <Button variant="default" size="compact-xs" onClick={retry}>
        Try again
      </Button>
    </Notice>
  </div>
);

/** A query. */
export interface Loadable<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  /** Whether the last try failed although an earlier one did not. */
  readonly isRefetchError: boolean;
  refetch(): unknown;
}

interface LoadedProps<Data> {
  readonly from: Loadable<Data>;
  readonly lines?: number | undefined;
  /** The heading until the whole page is loaded, which then has its own. */
  readonly page?: string;
  children(data: Data): ReactNode;
}

/**
 * Shows a query's result, or its state. Loaded content stays if a refresh fails, with a sentence
 * that says so. If the server refused the refresh, it is hidden: the person may no longer see it,
 * or it no longer exists.
 */
export function Loaded<Data>({ from, lines = 6, page, children }: LoadedProps<Data>) {
  if (from.data !== undefined && !isRefused(from.error)) {
    return (
      <>
        {from.isRefetchError && <OutOfDate retry={() => void from.refetch()} />}
        {children(from.data)}
      </>
    );
  }
  const state = from.isPending ? (
    <Loading lines={lines} />
  ) : (
    <Failure error={from.error} retry={() => void from.refetch()} />
  );
  return page === undefined ? state : <Page title={page}>{state}</Page>;
}

const NOTICE_ICONS = { info: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert };

interface NoticeProps {
  readonly tone?: keyof typeof NOTICE_ICONS;
  readonly title?: string;
  readonly children?: ReactNode;
}

/** A sentence that a person should not miss. */
export function Notice({ tone = "info", title, children }: NoticeProps) {
  const Icon = NOTICE_ICONS[tone];
  return (
    <div className="notice" data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
      <Icon size={16} aria-hidden />
      <div>
        {title && <strong>{title}</strong>}
        {children}
      </div>
    </div>
  );
}
