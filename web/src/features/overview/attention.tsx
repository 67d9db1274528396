import { Link } from "@tanstack/react-router";
import { CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { useWorkspace } from "../../api/workspace.ts";
import { FeatureLink } from "../../components/feature-link.tsx";
import { Card } from "../../components/page.tsx";
import { Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import type { Finding } from "./api.ts";

/** Problems that need attention, the worst first, each with a link to its page. */
export const Attention = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <Card title="Needs attention" flush={findings.length > 0}>
    {findings.length === 0 ? (
      <p className="calm">
        <CircleCheck size={16} aria-hidden /> Nothing needs attention.
      </p>
    ) : (
      <ul className="findings">
        {findings.map((finding) => (
          <li key={`${finding.kind} ${finding.subject}`}>
            <Tag tone={finding.severity}>{TITLES[finding.kind]}</Tag>
            <span>
              <LinkOf finding={finding}>{finding.subject}</LinkOf>: {finding.message}
              {finding.at && (
                <>
                  {" "}
                  {TIMES[finding.kind]} <Time at={finding.at} as="exact" />.
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    )}
  </Card>
);

const TITLES: Readonly<Record<Finding["kind"], string>> = {
  sync_failed: "Sync",
  webhook_paused: "Webhook",
  webhook_failing: "Webhook",
  items_rejected: "Rejections",
  requests_failed: "Failures",
  queue_filling: "Queue",
  job_paused: "Job",
  lock_held: "Database lock",
  key_throttled: "Rate limit",
  secret_expires: "API key",
  key_unused: "API key",
};

/** What the time of a finding is. */
const TIMES: Partial<Record<Finding["kind"], string>> = {
  webhook_failing: "Since",
  job_paused: "Tried again:",
  secret_expires: "Until",
};

interface LinkOfProps {
  readonly finding: Finding;
  readonly children: ReactNode;
}

function LinkOf({ finding: { kind, id, subject }, children }: LinkOfProps) {
  const workspace = useWorkspace();
  if (id !== null) {
    const to = kind === "sync_failed" ? "/w/$workspace/syncs/$id" : "/w/$workspace/webhooks/$id";
    return (
      <FeatureLink to={to} params={{ id }}>
        {children}
      </FeatureLink>
    );
  }
  if (kind === "secret_expires" || kind === "key_unused") {
    return (
      <Link to="/w/$workspace/settings/$section" params={{ workspace, section: "keys" }}>
        {children}
      </Link>
    );
  }
  const search = SEARCHES[kind]?.(subject);
  return search ? (
    <FeatureLink to="/w/$workspace/requests" search={search}>
      {children}
    </FeatureLink>
  ) : (
    <strong>{children}</strong>
  );
}

/** The search among live requests that shows a finding. */
const SEARCHES: Partial<Record<Finding["kind"], (subject: string) => Record<string, string>>> = {
  items_rejected: (code) => ({ code }),
  requests_failed: () => ({ status: "5xx" }),
  key_throttled: (key) => ({ key, status: "429" }),
};
