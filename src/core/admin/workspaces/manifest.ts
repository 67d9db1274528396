import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { type DeclaredSettings, Settings } from "../../base/context/workspace-settings.ts";
import { Problem } from "../../base/problem.ts";
import { ClosedObject, PLAIN_NAME } from "../../base/values/schemas.ts";
import { sentencesOf } from "../../http/validation-sentence.ts";
import type { Resource } from "./resource.ts";

/*
 * The manifest: the company and its workspaces as one declaration. Their parts are resources
 * (`resource.ts`). Each feature brings its own; `server/app.ts` lists them.
 */

export const Name = Type.String(PLAIN_NAME);

/** The id of an entry, as requests name it. */
export const DeclaredId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "As requests name it.",
});

export const ChannelName = Type.Enum(["email", "sms", "whatsapp"], {
  description: "email, sms or whatsapp.",
});

export const AllowReset = Type.Boolean({
  description: "Whether POST /admin/v1/workspaces/{name}/reset may empty it. false by default.",
});

type Shape = Pick<Resource, "key" | "about" | "schema" | "identity">;

export function manifestSchema(ofWorkspace: readonly Shape[], ofCompany: readonly Shape[]) {
  return ClosedObject(
    {
      $schema: Type.Optional(
        Type.String({
          description: "The address of this schema, for editors. It has no other effect.",
        }),
      ),
      version: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            "Orders the versions of this file: a server that starts with a lower one than was applied last does not apply it.",
        }),
      ),
      company: ClosedObject(
        { name: Name, ...membersOf(ofCompany) },
        { description: "Settings that all workspaces share." },
      ),
      workspaces: Type.Array(
        ClosedObject({
          name: Name,
          allow_reset: Type.Optional(AllowReset),
          settings: Type.Optional(Settings),
          ...membersOf(ofWorkspace),
        }),
        { description: "Workspaces that are not listed stay as they are." },
      ),
    },
    {
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
  readonly version?: number;
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
  readonly settings?: DeclaredSettings;
  readonly [resource: string]: unknown;
}

/** A broken rule of a manifest, and where: a list of keys and indexes. */
export interface ManifestFault {
  readonly path: readonly (string | number)[];
  readonly rule: string;
}

/** The faults that the schema finds in a manifest; empty for a valid one. */
export type FindManifestFaults = (manifest: unknown) => ManifestFault[];

/** Compiles the checks of a schema, which takes longer than to check a manifest. */
export function manifestChecks(schema: TSchema): FindManifestFaults {
  const validator = Compile(schema);
  return (manifest) => {
    if (validator.Check(manifest)) return [];
    const sentences = sentencesOf(validator.Errors(manifest), "manifest", manifest);
    return sentences.map(({ instancePath, sentence }) => ({
      path: stepsOf(instancePath),
      rule: sentence,
    }));
  };
}

const stepsOf = (pointer: string): (string | number)[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));

/**
 * Refuses a manifest and lists all its faults; the message and the path belong to the first one.
 */
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

/** @throws Problem INVALID_REQUEST if entries have the same `key`; see `findDuplicates`. */
export function refuseDuplicates(...list: Parameters<typeof findDuplicates>): void {
  const faults = findDuplicates(...list);
  if (faults.length > 0) throw manifestProblem(faults);
}
