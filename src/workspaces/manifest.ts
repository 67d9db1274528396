import Type, { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { PERMISSIONS } from "../context/permissions.ts";
import type { WorkspaceSettings } from "../context/workspace.ts";
import { sentencesOf } from "../http/validation-sentence.ts";
import { Problem } from "../problem.ts";
import type { Resource } from "./resource.ts";

/*
 * The manifest: the company and its workspaces as one declaration. Their parts are resources
 * (`resource.ts`). Each feature brings its own; `server/app.ts` lists them.
 */

export const Name = Type.String({ minLength: 1, maxLength: 255 });

/** The id of an entry, as requests name it. */
export const DeclaredId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "As requests name it.",
});

const RateLimit = Type.Union(
  [
    Type.Literal("off"),
    Type.Object(
      {
        requests: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
        per_seconds: Type.Integer({ minimum: 1, maximum: 31_536_000 }),
      },
      { additionalProperties: false },
    ),
  ],
  { title: "RateLimit", description: "off, or a number of requests per number of seconds." },
);

export const ChannelName = Type.Enum(["email", "sms", "whatsapp"], {
  description: "email, sms or whatsapp.",
});

export const AllowReset = Type.Boolean({
  description: "Whether POST /admin/v1/workspaces/{name}/reset may empty it. false by default.",
});

const Color = Type.String({ pattern: "^#[0-9a-fA-F]{6}$", examples: ["#3453d1"] });

const Brand = Type.Object(
  {
    company: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "The name that readers know." }),
    ),
    logo_url: Type.Optional(
      Type.String({
        pattern:
          "^(https://[^\\s\"'<>]+|data:image/(png|jpeg|gif|webp|svg\\+xml);base64,[A-Za-z0-9+/=]+)$",
        maxLength: 65_536,
        description: "A logo: an https address, or the image itself as a data URL.",
        examples: ["https://acme.example/logo.png"],
      }),
    ),
    color: Type.Optional({ ...Color, description: "Of buttons and switches: #3453d1." }),
    color_dark: Type.Optional({
      ...Color,
      description: "The same for dark screens; by default the other one.",
    }),
  },
  {
    additionalProperties: false,
    description: "How the default preference pages present the workspace.",
    examples: [{ company: "Acme", color: "#0b6e4f", color_dark: "#5cd6a9" }],
  },
);

export const Settings = Type.Object(
  {
    track_max_updates: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: "How many objects a track request may hold. 50 by default.",
      }),
    ),
    intake: Type.Optional(
      Type.Enum(["strict", "lenient"], {
        description:
          "Whether track refuses an object with one invalid attribute or an extra address, or " +
          "omits that and reports it. strict by default.",
      }),
    ),
    profile_max_bytes: Type.Optional(
      Type.Integer({
        minimum: 1_024,
        maximum: 16_777_216,
        description:
          "How many bytes of JSON the custom attributes of a profile may take. 1048576 by default.",
      }),
    ),
    max_attribute_names: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description:
          "How many distinct custom attributes its users may have in total. 5000 by default.",
      }),
    ),
    max_event_names: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: "How many distinct names its events may have. 5000 by default.",
      }),
    ),
    max_users: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000_000_000,
        description: "How many users it may have; 0, the default, means unlimited.",
      }),
    ),
    keep_events_days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 36_500,
        description:
          "For how many days after their time events are kept one by one; 0, the default, for ever. Their " +
          "totals stay.",
      }),
    ),
    keep_purchases_days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 36_500,
        description:
          "For how many days after their time purchases are kept one by one; 0, the default, for ever. Their " +
          "totals stay.",
      }),
    ),
    keep_row_log_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 30,
        description: "For how many days rows that a sync did not apply are listed. 30 by default.",
      }),
    ),
    keep_captured_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 7,
        description: "For how many days captured calls are kept. 7 by default.",
      }),
    ),
    multi_language: Type.Optional(
      Type.Boolean({ description: "Whether messages can be translated. false by default." }),
    ),
    blocked_external_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 987 }), {
        maxItems: 1_000,
        description: "External ids for which nothing is recorded, such as dummy users.",
      }),
    ),
    rate_limits: Type.Optional(
      Type.Object(Object.fromEntries(PERMISSIONS.map((name) => [name, Type.Optional(RateLimit)])), {
        additionalProperties: false,
        description: "Rate limits of this workspace by permission: off, or requests per_seconds.",
      }),
    ),
    redirect_merged_ids: Type.Optional(
      Type.Boolean({
        description: "Whether a merged external_id leads to the kept profile. false by default.",
      }),
    ),
    brand: Type.Optional(Brand),
    capture_unsupported: Type.Optional(
      Type.Boolean({
        description:
          "Whether public calls that Rapport does not serve, such as messages/send, are stored and get a " +
          "success. For tests. false by default.",
      }),
    ),
  },
  {
    title: "WorkspaceSettings",
    additionalProperties: false,
    description: "How the workspace behaves.",
    examples: [{ track_max_updates: 75, intake: "lenient", multi_language: true }],
  },
);

/** The settings of a workspace whose manifest omits them. spec: Limits. */
export const DEFAULT_SETTINGS: WorkspaceSettings = {
  track_max_updates: 50,
  intake: "strict",
  profile_max_bytes: 1_048_576,
  max_attribute_names: 5_000,
  max_event_names: 5_000,
  max_users: 0,
  keep_events_days: 0,
  keep_purchases_days: 0,
  keep_row_log_days: 30,
  keep_captured_days: 7,
  multi_language: false,
  blocked_external_ids: [],
  rate_limits: {},
  redirect_merged_ids: false,
  capture_unsupported: false,
  brand: {},
};

type Shape = Pick<Resource, "key" | "about" | "schema" | "identity">;

/** The schema of a manifest with these resources. */
export function manifestSchema(ofWorkspace: readonly Shape[], ofCompany: readonly Shape[]) {
  return Type.Object(
    {
      $schema: Type.Optional(
        Type.String({ description: "Where editors find this schema. It has no other effect." }),
      ),
      company: Type.Object(
        { name: Name, ...membersOf(ofCompany) },
        { additionalProperties: false, description: "What all workspaces share." },
      ),
      workspaces: Type.Array(
        Type.Object(
          {
            name: Name,
            allow_reset: Type.Optional(AllowReset),
            settings: Type.Optional(Settings),
            ...membersOf(ofWorkspace),
          },
          { additionalProperties: false },
        ),
        { description: "Workspaces that are not listed stay as they are." },
      ),
    },
    {
      additionalProperties: false,
      title: "Rapport manifest",
      description:
        "The workspaces of a server as one declaration. An included list replaces what earlier " +
        "manifests declared; an absent list changes nothing.",
    },
  );
}

const membersOf = (resources: readonly Shape[]) =>
  Object.fromEntries(
    resources.map(({ key, about, schema, identity }) => {
      const described = about === undefined ? {} : { description: about };
      return [key, Type.Optional(identity === undefined ? schema : Type.Array(schema, described))];
    }),
  );

/** A checked manifest. The schema of a resource says what its member holds. */
export interface Manifest {
  readonly company: DeclaredCompany;
  readonly workspaces: readonly DeclaredWorkspace[];
}

export interface DeclaredCompany {
  readonly name: string;
  readonly [resource: string]: unknown;
}

export interface DeclaredWorkspace {
  readonly name: string;
  readonly allow_reset?: boolean;
  readonly settings?: Static<typeof Settings>;
  readonly [resource: string]: unknown;
}

/** A broken rule of a manifest, and where: a list of keys and indexes. */
export interface ManifestFault {
  readonly path: readonly (string | number)[];
  readonly rule: string;
}

/** What the schema refuses in a manifest; empty for a valid one. */
export function findManifestFaults(schema: TSchema, manifest: unknown): ManifestFault[] {
  const validator = Compile(schema);
  if (validator.Check(manifest)) return [];
  return sentencesOf(validator.Errors(manifest), "manifest").map(({ instancePath, sentence }) => ({
    path: stepsOf(instancePath),
    rule: sentence,
  }));
}

const stepsOf = (pointer: string): (string | number)[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));

/** Refuses a manifest with all that is wrong with it: the message and the path are those of the first fault. */
export function manifestProblem(faults: readonly ManifestFault[]): Problem {
  const [first = { path: [], rule: "The manifest is not valid." }] = faults;
  const listed = faults.map(({ path, rule }) => ({ path, message: rule }));
  return new Problem("INVALID_REQUEST", first.rule, {
    body: { path: first.path, ...(listed.length > 1 && { faults: listed }) },
  });
}

/**
 * Entries with the same `key`, which JSON Schema cannot express: one error for each after the
 * first.
 *
 * @param path the location of the list.
 */
export function findDuplicates(
  entries: readonly Readonly<Record<string, unknown>>[],
  key: string,
  path: ManifestFault["path"],
): ManifestFault[] {
  const seen = new Set<unknown>();
  const faults: ManifestFault[] = [];
  for (const [index, entry] of entries.entries()) {
    if (seen.has(entry[key])) {
      const list = path
        .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
        .join("");
      const rule = `'${list.slice(1)}' has the ${key} '${String(entry[key])}' twice.`;
      faults.push({ path: [...path, index, key], rule });
    }
    seen.add(entry[key]);
  }
  return faults;
}

/** @throws Problem INVALID_REQUEST where entries have the same `key`; see `findDuplicates`. */
export function refuseDuplicates(...list: Parameters<typeof findDuplicates>): void {
  const faults = findDuplicates(...list);
  if (faults.length > 0) throw manifestProblem(faults);
}
