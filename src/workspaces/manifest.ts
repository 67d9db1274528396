import Type, { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { PERMISSIONS } from "../access/permissions.ts";
import type { WorkspaceSettings } from "../access/workspace.ts";
import { sentenceOf } from "../http/validate.ts";
import { Problem } from "../problem.ts";
import type { Section } from "./section.ts";

/*
 * The manifest: what a company wants its workspaces to be, as one declaration.
 *
 * The parts of a workspace, and those of the company, are sections. A facility brings its own section
 * (schema and how it is applied); `app.ts` has the list of them, so that this folder need not know
 * the facilities.
 */

export const Name = Type.String({ minLength: 1, maxLength: 255 });

/** An entry's id as other requests will name it. */
export const DeclaredId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "As requests name it.",
});

const RateLimit = Type.Union(
  [
    Type.Literal("off"),
    Type.Object(
      { requests: Type.Integer({ minimum: 1 }), per_seconds: Type.Integer({ minimum: 1 }) },
      { additionalProperties: false },
    ),
  ],
  { description: "off, or how many requests fit into how many seconds." },
);

/** Which way messages go. */
export const ChannelName = Type.Enum(["email", "sms", "whatsapp"], {
  description: "email, sms or whatsapp.",
});

export const AllowReset = Type.Boolean({
  description: "Whether POST /admin/v1/workspaces/{name}/reset may empty it. false by default.",
});

export const Settings = Type.Object(
  {
    track_max_updates: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: "How many objects a track request may hold. 50 by default.",
      }),
    ),
    multi_language: Type.Optional(
      Type.Boolean({ description: "Whether messages can be translated. false by default." }),
    ),
    blocked_external_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "External ids that nothing is recorded for, such as those of dummy users.",
      }),
    ),
    rate_limits: Type.Optional(
      Type.Object(Object.fromEntries(PERMISSIONS.map((name) => [name, Type.Optional(RateLimit)])), {
        additionalProperties: false,
        description: "Limits of the workspace's own by permission: off, or requests per_seconds.",
      }),
    ),
    redirect_merged_ids: Type.Optional(
      Type.Boolean({
        description: "Whether a merged external_id leads to the kept profile. false by default.",
      }),
    ),
  },
  { additionalProperties: false, description: "How the workspace behaves." },
);

/** What a workspace is where its manifest says nothing. spec: Limits. */
export const DEFAULT_SETTINGS: WorkspaceSettings = {
  track_max_updates: 50,
  multi_language: false,
  blocked_external_ids: [],
  rate_limits: {},
  redirect_merged_ids: false,
};

/** What a section looks like, wherever it stands: see `section.ts`. */
type SectionShape = Pick<Section, "key" | "about" | "schema" | "identity">;

/** The manifest with the sections of the facilities built in. */
export function manifestSchema(
  workspaceSections: readonly SectionShape[],
  companySections: readonly SectionShape[],
) {
  return Type.Object(
    {
      $schema: Type.Optional(
        Type.String({ description: "Where editors find this schema. It means nothing else." }),
      ),
      company: Type.Object(
        { name: Name, ...membersOf(companySections) },
        { additionalProperties: false, description: "What all workspaces have in common." },
      ),
      workspaces: Type.Array(
        Type.Object(
          {
            name: Name,
            allow_reset: Type.Optional(AllowReset),
            settings: Type.Optional(Settings),
            ...membersOf(workspaceSections),
          },
          { additionalProperties: false },
        ),
        { description: "Those that are not named stay as they are." },
      ),
    },
    {
      additionalProperties: false,
      title: "Rapport manifest",
      description:
        "What the workspaces of a server are, as one declaration. A list that is there is the whole " +
        "truth about what manifests declared; one that is absent leaves everything as it is.",
    },
  );
}

const membersOf = (sections: readonly SectionShape[]) =>
  Object.fromEntries(
    sections.map(({ key, about, schema, identity }) => {
      const described = about === undefined ? {} : { description: about };
      return [key, Type.Optional(identity === undefined ? schema : Type.Array(schema, described))];
    }),
  );

/** A manifest that was checked. What a section holds is what its own schema says. */
export interface Manifest {
  readonly company: DeclaredCompany;
  readonly workspaces: readonly DeclaredWorkspace[];
}

export interface DeclaredCompany {
  readonly name: string;
  readonly [section: string]: unknown;
}

export interface DeclaredWorkspace {
  readonly name: string;
  readonly allow_reset?: boolean;
  readonly settings?: Static<typeof Settings>;
  readonly [section: string]: unknown;
}

/** A rule that a manifest breaks, with the place as a list of keys and indexes. */
export interface ManifestFault {
  readonly path: readonly (string | number)[];
  readonly rule: string;
}

/** The first fault of a manifest against its schema, or undefined. */
export function findManifestFault(schema: TSchema, manifest: unknown): ManifestFault | undefined {
  const validator = Compile(schema);
  if (validator.Check(manifest)) return undefined;
  const errors = validator.Errors(manifest);
  const path = (errors[0]?.instancePath ?? "").split("/").slice(1);
  return {
    path: path.map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
    rule: sentenceOf(errors, "manifest"),
  };
}

/**
 * Refuses names that stand twice in one list, which no schema can say; `path` is the list's.
 *
 * @throws Problem INVALID_REQUEST with the path of the second one.
 */
export function refuseDuplicates(
  entries: readonly Readonly<Record<string, unknown>>[],
  key: string,
  path: ManifestFault["path"],
): void {
  const seen = new Set<unknown>();
  for (const [index, entry] of entries.entries()) {
    if (seen.has(entry[key])) {
      const list = path
        .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
        .join("");
      throw new Problem(
        "INVALID_REQUEST",
        `'${list.slice(1)}' has the ${key} '${String(entry[key])}' twice.`,
        { body: { path: [...path, index, key] } },
      );
    }
    seen.add(entry[key]);
  }
}
