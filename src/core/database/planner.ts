/**
 * The use of statements determines how the engine plans them, which connections they use, and how
 * long they may take:
 *
 * - `intake`: the statements of the write path and of requests. They go by key.
 * - `lookup`: reads of some rows by an index that need not be unique, with an order or a limit.
 * - `analysis`: everything that reads much or takes long: exports, counts.
 * - `maintenance`: work of the server whose statements grow with the data: migrations, sweeps, resets, backups. The others
 *   hold the only connection of the embedded engine for a few seconds at most.
 */
export type Use = "intake" | "lookup" | "analysis" | "maintenance";

/**
 * Without statistics (on a fresh table, and always on the embedded engine, which never analyzes by
 * itself) the planner considers `workspace_id = 1` selective: it scans, or joins a batch with
 * itself in a nested loop, and a batch of 400 takes 50 ms instead of 4. An intake statement that
 * joins a table with `unnest` therefore also says `key = any(…)`, and these settings leave the
 * planner only the index and a hash join.
 */
const INTAKE = {
  jit: "off",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_nestloop: "off",
  enable_mergejoin: "off",
};

/** The planner's settings for each use; a use that omits one gives it its default. */
const CHANGED: Readonly<Record<Use, Partial<typeof INTAKE>>> = {
  intake: INTAKE,
  // By any kind of index scan: even a table that looks small today is not read whole.
  lookup: { jit: "off", enable_seqscan: "off" },
  analysis: {},
  maintenance: {},
};

const DEFAULTS: typeof INTAKE = {
  jit: "off",
  enable_seqscan: "on",
  enable_bitmapscan: "on",
  enable_nestloop: "on",
  enable_mergejoin: "on",
};

/**
 * PostgreSQL's planner settings for a use: the defaults with the changes for it. A statement is planned each time that it
 * runs. A generic plan that was made while a table was small would be kept until the table is analyzed, which the embedded
 * engine does every ten minutes, and would read the whole table until then. (`readTogether` keeps plans on PostgreSQL.)
 */
export const plannerSettings = (use: Use) => ({
  plan_cache_mode: "force_custom_plan",
  ...DEFAULTS,
  ...CHANGED[use],
});

/** The settings as statements: for a session, or only for the running transaction. */
export const setPlanner = (use: Use, scope: "session" | "local"): string =>
  Object.entries(plannerSettings(use))
    .map(([name, value]) => `set ${scope} ${name} = ${value};`)
    .join(" ");

/**
 * The statement after which the running transaction plans for another use. Plans are kept there, which saves an export a
 * fifth of its time. A kept plan of a lookup stays good: each table has one index that fits, however many rows there are.
 */
export const planNextFor = (use: Use): string =>
  `select ${Object.entries({ ...plannerSettings(use), plan_cache_mode: "auto" })
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(", ")}`;
