import { later } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { type Grant, type Limit, SHARES_OF_A_WINDOW } from "./limit-windows.ts";

/**
 * Leases requests of a window that all server processes share, in one statement: the row's lock
 * serializes them. A process gets as many as it asks for, but at most a share of the rest, and at
 * least one if any is left. No window ends later than its length from now, even if it began while a
 * clock ran ahead.
 *
 * @param now on the clock that all processes share.
 */
export async function lendFromWindow(
  database: Database,
  { name, requests, perSeconds }: Limit,
  wanted: number,
  now: Date,
): Promise<Grant> {
  const [row] = await database.query<{ granted: number; given: number; endsAt: Date }>(
    `insert into rate_limit_windows as w (name, ends_at, given, last_grant)
     values ($1, $3, least($4::bigint, ${share("0")}), least($4::bigint, ${share("0")}))
     on conflict (name) do update set
       ends_at = case when w.ends_at > $2 then least(w.ends_at, excluded.ends_at) else excluded.ends_at end,
       given = case when w.ends_at > $2 then w.given + greatest(0, least($4::bigint, ${share("w.given")}))
         else excluded.given end,
       last_grant = case when w.ends_at > $2 then greatest(0, least($4::bigint, ${share("w.given")}))
         else excluded.last_grant end
     returning last_grant as granted, given, ends_at as "endsAt"`,
    [name, now, later(now, { seconds: perSeconds }), wanted, requests],
  );
  const { endsAt, ...grant } = row as { granted: number; given: number; endsAt: Date };
  return { ...grant, window: endsAt.getTime(), endsInMs: endsAt.getTime() - now.getTime() };
}

/**
 * The most that one lease may have after this many were given out; zero or less if none are left.
 */
const share = (given: string): string =>
  `least($5::bigint - ${given}, greatest(1, ($5::bigint - ${given}) / ${SHARES_OF_A_WINDOW}))`;
