/**
 * How the engine plans, on every connection.
 *
 * Every statement of the program goes by key, but without statistics (a fresh table, and the embedded
 * engine analyzes nothing by itself) the planner takes `workspace_id = 1` for selective: it scans, or
 * joins a batch with itself in a nested loop, and a batch of 400 takes 50 ms instead of 4. So a
 * statement that joins a table with `unnest` also says `key = any(…)`, and these settings leave the
 * planner nothing but the index and a hash join. A generic plan made on an empty table would stay
 * bad when the table has grown, hence `force_custom_plan`.
 */
export const PLANNER_SETTINGS = {
  plan_cache_mode: "force_custom_plan",
  jit: "off",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_nestloop: "off",
  enable_mergejoin: "off",
};
