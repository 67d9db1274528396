import { useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";

interface PageProps {
  readonly title: string;
  /** The window's title, if it says more than the heading. */
  readonly windowTitle?: string;
  /** One sentence: the purpose of the page. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page: its heading, which also names the window, and its actions. */
export function Page({ title, windowTitle = title, about, actions, children }: PageProps) {
  const { workspace } = useParams({ strict: false });
  useEffect(() => {
    document.title = [windowTitle, workspace, "Rapport"].filter(Boolean).join(" · ");
  }, [windowTitle, workspace]);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1 dir="auto">{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  readonly title?: string;
  /** One sentence: its purpose. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Without space around the content, as for tables. */
  readonly flush?: boolean;
}

export function Card({ title, about, actions, children, flush = false }: CardProps) {
  return (
    <section className="card" aria-label={title}>
      {(title || actions) && (
        <div className="card-head">
          <div>
            {title && <h2>{title}</h2>}
            {about && <p>{about}</p>}
          </div>
          {actions}
        </div>
      )}
      <div className={flush ? undefined : "card-body"}>{children}</div>
    </section>
  );
}

/** Shown instead of a missing value. */
export const Absent = () => <span className="dim absent">–</span>;

/** Names with their values. */
export function Facts({ of: facts }: { readonly of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? <Absent />}</dd>
        </div>
      ))}
    </dl>
  );
}
