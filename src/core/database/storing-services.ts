import type { Clock } from "../base/clock.ts";
import type { Database } from "./database.ts";

/** What nearly every use case runs on: the database, and the time of what it writes. */
export type StoringServices = { readonly database: Database; readonly clock: Clock };
