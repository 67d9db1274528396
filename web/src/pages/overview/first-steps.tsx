import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Check, Circle } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useChangeApiKeys } from "../../api/credentials.ts";

import { type Session, useSession } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { FeatureLink } from "../../components/feature-link.tsx";
import { tellFailed } from "../../components/feedback.tsx";
import { firstRequest } from "../../components/first-request.tsx";
import { Card } from "../../components/page.tsx";
import { useFirstSteps } from "./steps-taken.ts";

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

/** Whether a person may take the steps: they make a key, a segment, and add a colleague. */
const mayTake = ({ administrator, permissions }: Session, workspace: string): boolean =>
  administrator || (permissions.workspaces[workspace]?.includes("admin") ?? false);

/** What this browser has seen of a workspace. */
const kept = (what: "arrival" | "hidden", workspace: string) =>
  `rapport-first-${what}-${workspace}`;

/** The first four steps with a new workspace; it disappears once they are taken. */
export function FirstSteps() {
  const workspace = useWorkspace();
  const session = useSession();
  const [isHidden, setHidden] = useState(
    () => localStorage.getItem(kept("hidden", workspace)) !== null,
  );
  if (isHidden || !mayTake(session, workspace)) return null;
  return (
    <Steps
      hide={() => {
        localStorage.setItem(kept("hidden", workspace), "1");
        setHidden(true);
      }}
    />
  );
}

function Steps({ hide }: { hide(): void }) {
  const workspace = useWorkspace();
  const { administrator } = useSession();
  const [hasSeen, setSeen] = useState(
    () => localStorage.getItem(kept("arrival", workspace)) !== null,
  );
  const done = useFirstSteps(administrator);
  if (!done) return null;
  const see = () => {
    localStorage.setItem(kept("arrival", workspace), "1");
    setSeen(true);
  };
  const steps: readonly Step[] = [
    {
      title: "Send an event",
      isDone: done.hasUsers,
      children: <SendAnEvent />,
    },
    {
      title: "See it arrive",
      isDone: done.hasUsers && hasSeen,
      children: done.hasUsers ? (
        <p>
          It is here.{" "}
          <FeatureLink to="/w/$workspace/requests" className="link" onClick={see}>
            Look at the request and its verdict
          </FeatureLink>
          , or{" "}
          <FeatureLink to="/w/$workspace/users" className="link" onClick={see}>
            at the user
          </FeatureLink>
          .
        </p>
      ) : (
        <p className="dim">This page notices it within a few seconds.</p>
      ),
    },
    {
      title: "Make a segment",
      isDone: done.hasSegments,
      children: (
        <p>
          Choose whom you want to reach, such as everyone who signed up.{" "}
          <Link to="/w/$workspace/segments/$id" params={{ workspace, id: "new" }} className="link">
            Make a segment
          </Link>
        </p>
      ),
    },
    ...(administrator
      ? [
          {
            title: "Invite a colleague",
            isDone: done.hasColleagues,
            children: (
              <p>
                With a link, and with a role that says what they may do.{" "}
                <Link
                  to="/company/$section"
                  params={{ section: "dashboard-users" }}
                  className="link"
                >
                  Add a colleague
                </Link>
              </p>
            ),
          },
        ]
      : []),
  ];
  const next = steps.findIndex(({ isDone }) => !isDone);
  if (next < 0) return null;
  return (
    <div className="above-content">
      <Card
        title="First steps"
        actions={
          <Button size="compact-xs" variant="default" onClick={hide}>
            Hide
          </Button>
        }
      >
        <ol className="first-steps">
          {steps.map(({ title, isDone, children }, index) => (
            <li key={title} data-done={isDone}>
              {isDone ? <Check size={16} aria-hidden /> : <Circle size={16} aria-hidden />}
              <div>
                <strong>{title}</strong>
                {isDone && <span className="hidden"> (done)</span>}
                {index === next && children}
              </div>
            </li>
          ))}
        </ol>
      </Card>
    </div>
  );
}

/** A command with the address of this server and a key of its own, which is made when it is asked for. */
function SendAnEvent() {
  const { create } = useChangeApiKeys();
  const [key, setKey] = useState<string>();
  const make = async () => {
    const name = `first-event-${Date.now().toString(36)}`;
    setKey(await create({ name, permissions: ["users.track"], ip_allowlist: [] }));
  };
  if (key) {
    return (
      <>
        <p>Paste this into a terminal. The key may only send data; it is shown this once.</p>
        <CodeBlock code={firstRequest(location.origin, key)} label="command" />
      </>
    );
  }
  return (
    <>
      <p>With a command that has the address of this server and an API key of its own.</p>
      <Button size="xs" onClick={() => void make().catch(tellFailed)}>
        Show the command
      </Button>
    </>
  );
}
