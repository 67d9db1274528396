import postgres from "postgres";

/** How often the connections are looked at. */
const EVERY_MS = 20;

/** The activity of the server's connections, as shares of all samples. */
export type Activity = ReadonlyMap<string, number>;

/** Samples the connections of a server until it is told to stop. */
export function watchActivity(url: string): { stop(): Promise<Activity> } {
  const unlogged = { log_min_duration_statement: "-1" };
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: unlogged });
  const counts = new Map<string, number>();
  let isWatching = true;

  async function watch(): Promise<void> {
    while (isWatching) {
      const rows = await sql<{ doing: string }[]>`
        select case when state <> 'active' then state
          when wait_event is null then 'running'
          else 'waiting: ' || wait_event_type || ' ' || wait_event end as doing
        from pg_stat_activity
        where datname = current_database() and application_name = 'rapport'`;
      for (const { doing } of rows) counts.set(doing, (counts.get(doing) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  const watching = watch();
  return {
    async stop() {
      isWatching = false;
      await watching;
      await sql.end();
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const shares = [...counts].map(([doing, count]) => [doing, count / all] as const);
      return new Map(shares.sort(([, one], [, other]) => other - one));
    },
  };
}
