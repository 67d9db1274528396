import type { Command } from "commander";
import type { AttentionSource } from "./admin/attention/attention.ts";
import type { NamingServices } from "./admin/audit/audit.ts";
import type { JobKind } from "./admin/jobs/job.ts";
import type { ErasedPerson, Retained, TraceEraser } from "./admin/retention/retention.ts";
import type { SealedKind } from "./admin/secrets/rotate.ts";
import type { ReferenceEraser } from "./admin/workspaces/delete-workspace.ts";
import type { Eraser } from "./admin/workspaces/reset.ts";
import type { Colleagues, NameEraser, Resource } from "./admin/workspaces/resource.ts";
import type { CompanyContext } from "./base/context/context.ts";
import type { Metrics } from "./base/observe/metrics.ts";
import type { Database } from "./database/database.ts";
import type { MigrationStep } from "./database/migrations/steps.ts";
import type { Endpoint } from "./http/endpoint.ts";
import type { AnsweredRequest } from "./http/observe.ts";
import type { OnWritten } from "./track/write-batch.ts";

/*
 * What a part of Rapport offers. The core has a few parts of its own (server/core-parts.ts); each other one is a feature: a
 * folder below features/ whose `feature.ts` has one of these, and its commands in `commands.ts`. server/app.ts lists them, and
 * nothing else names a feature. Whoever calls several parts, such as a reset, gets what they offer as an argument.
 */

/**
 * Everything is optional but the name.
 *
 * @template Services what the hooks are given: all services of the server, of which each names those that it needs.
 * @template Settings all settings of the server.
 */
export interface Feature<Services = never, Settings = never> {
  readonly name: string;

  // What clients see.
  readonly endpoints?: readonly Endpoint<Services>[];
  /** Pages of a browser, and what their forms send: in the reference, and in no client. */
  readonly pages?: readonly Endpoint<Services>[];
  /** Routes for what is no part of the API. */
  readonly unlisted?: readonly Endpoint<Services>[];
  /** Where its paths stand in the reference. */
  readonly reference?: readonly ReferencePart[];
  /** What manifests declare in a workspace. APPLIED in server/app.ts says in which order. */
  readonly resources?: readonly Resource[];
  /** What manifests declare in the company. */
  readonly companyResources?: readonly Resource<CompanyContext>[];
  /** What the demo workspace declares of it, as a manifest does. */
  readonly demo?: object;
  /** What it says in the overview of a workspace. */
  readonly attention?: AttentionSource;

  // What it runs on, and what it does beside requests.
  /**
   * Its own services, made once for each process. Their names are unique.
   *
   * @param given the services of the core that need no other, and the services of the parts before it in the list.
   */
  readonly services?: (given: Services, settings: Settings) => object;
  readonly jobs?: readonly JobKind<Services>[];
  /** What it does again and again, in every process. */
  readonly repeated?: readonly Repeated<Services>[];
  /** Begins what runs until the server stops. */
  readonly start?: (services: Services) => Promise<{ stop(): Promise<void> }>;
  /** Writes down what is only in memory, before the process ends. */
  readonly finish?: (services: Services) => Promise<void>;
  /** What migrations do that SQL cannot. */
  readonly migrationSteps?: readonly MigrationStep[];
  /** Checks of its settings before a server starts; see server/start-checks.ts. */
  readonly settingChecks?: Readonly<
    Record<string, (settings: Settings) => Promise<string | undefined>>
  >;

  // What it hears.
  /** Learns what a transaction has written once it has committed. */
  readonly onWritten?: (services: Services) => OnWritten;
  /** Learns of every request of an API key. */
  readonly onAnswered?: (
    services: Services,
    settings: Settings,
  ) => ((answered: AnsweredRequest) => void) | undefined;

  // What it does with its data.
  /** Deletes its data about users when a workspace is reset. */
  readonly reset?: Ordered<Eraser>;
  /** Removes its records about an erased person, outside the person's own rows. */
  readonly erasure?: readonly TraceEraser[];
  /** Removes what refers to a deleted workspace outside the rows of the workspace. */
  readonly deletion?: Ordered<ReferenceEraser>;
  /** Removes what still mentions a name that a new workspace or permission set takes. */
  readonly nameEraser?: NameEraser;
  /** Drops what this process holds in memory about a workspace, after a reset or a deletion. */
  readonly forgetWorkspace?: (services: Services, workspaceId: number) => void;
  /** Drops what server processes hold in memory about an erased person. */
  readonly forgetPerson?: (services: Services, person: ErasedPerson) => Promise<void>;
  /** Its stored secrets, which a new key seals again. */
  readonly sealed?: readonly SealedKind[];
  /** What it keeps for a period from the settings of a workspace. */
  readonly retained?: readonly Retained[];
  /** Deletes what is older than its period, every few minutes. */
  readonly sweeps?: readonly Sweep[];

  // What it offers to others by name.
  /** Tells which addresses belong to colleagues. One part has it. */
  readonly colleaguesAmong?: Colleagues["colleaguesAmong"];
  /** The user names of colleagues by their ids. One part has it. */
  readonly namesOfColleagues?: NamingServices["namesOfColleagues"];
  /** What it adds to another feature, by the name of that feature. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /**
   * What it offers because of the extensions that other features have for it.
   *
   * @param extensions in the order of the list of features.
   */
  readonly extendedBy?: (
    extensions: readonly unknown[],
  ) => Pick<Feature<Services, Settings>, "endpoints" | "resources">;
}

/** Steps with a place among the steps of other features. */
export interface Ordered<Step> {
  /** Before all others: what stops something that would write again what they remove, and what they read. */
  readonly first?: readonly Step[];
  readonly later?: readonly Step[];
}

export interface ReferencePart {
  /** The name of a tag in server/reference/tags.ts. */
  readonly tag: string;
  /** The first steps of the paths that belong there. */
  readonly paths: readonly string[];
}

export interface Repeated<Services> {
  readonly ms: number;
  /** For the log, such as `measuring webhooks`. */
  readonly what: string;
  readonly run: (services: Services) => Promise<void>;
}

export type Sweep = (database: Database, now: Date, metrics: Metrics) => Promise<unknown>;

/** A file that defines one subcommand: its options, help and action. */
export interface CommandModule {
  /**
   * @param loadAll defines every subcommand, for commands that list them all.
   * @param serve starts a server, for commands that fill one.
   */
  define(command: Command, loadAll: () => Promise<void>, serve: Serve): void;
}

/**
 * Starts a server in this process, as `rapport serve` does, and serves until a signal ends the process.
 *
 * @param prepare is called once the server takes requests, before it is announced, and returns lines for the announcement.
 */
export type Serve = (
  prepare: (server: PreparedServer) => Promise<readonly string[]>,
) => Promise<void>;

/** A server that a command fills. */
export interface PreparedServer {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly adminToken: string;
  /** The key of the workspace `demo`, which may do everything. */
  readonly key: string;
}

/**
 * The subcommands of a feature, each with the sentence that `rapport --help` shows. Its module is loaded only when it runs,
 * so that help and version respond at once.
 */
export type Commands = Readonly<
  Record<string, readonly [about: string, load: () => Promise<CommandModule>]>
>;
