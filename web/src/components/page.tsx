import { type ReactNode, useEffect } from "react";

interface PageProps {
  readonly title: string;
  /** One sentence: what the page is for. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page: its heading, which is also the title of the window, and its actions. */
export function Page({ title, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Rapport`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{title}</h1>
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
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Without space around the content, as for tables. */
  readonly flush?: boolean;
}

export function Card({ title, actions, children, flush = false }: CardProps) {
  return (
    <section className="card" aria-label={title}>
      {(title || actions) && (
        <div className="card-head">
          {title && <h2>{title}</h2>}
          {actions}
        </div>
      )}
      <div className={flush ? undefined : "card-body"}>{children}</div>
    </section>
  );
}

/** Names with their values. */
export function Facts({ of: facts }: { readonly of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? <span className="dim">–</span>}</dd>
        </div>
      ))}
    </dl>
  );
}
