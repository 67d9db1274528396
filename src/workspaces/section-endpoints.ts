import Type, { type TObject, type TSchema } from "typebox";
import { type Origin, originOf } from "../audit/audit.ts";
import { byAdministrator, type Contract, type Endpoint } from "../http/endpoint.ts";
import {
  type AdministerServices,
  companyTarget,
  entryNamed,
  type FindTarget,
  type Place,
  putEntry,
  readEntries,
  removeEntry,
  workspaceTarget,
} from "./administer.ts";
import type { CompanySection, Entry, Resource, Section, Target } from "./section.ts";

/*
 * What a manifest says can also be changed one entry at a time (design: Fixed interface). For a section
 * that is a list: GET all, GET one, PUT and DELETE; for one that is a value: GET and PUT. The endpoints
 * follow from the section and check with its schema.
 * decision: docs/decisions/one-resource-at-a-time.md.
 */

type Params = Readonly<Record<string, string>>;

/** Whose sections they are, as a path and its parameters name it. */
interface Owner<Where extends Target> {
  readonly path: string;
  readonly params: Readonly<Record<string, TSchema>>;
  readonly words: string;
  targetOf(params: Params): FindTarget<Where>;
}

const WORKSPACE: Owner<never> = {
  path: "/admin/v1/workspaces/:name",
  params: { name: Type.String() },
  words: "of a workspace",
  targetOf: ({ name = "" }) => workspaceTarget(name) as FindTarget<never>,
};

const COMPANY: Owner<never> = {
  path: "/admin/v1",
  params: {},
  words: "of the company",
  targetOf: () => companyTarget as FindTarget<never>,
};

/** The endpoints of all sections that are administered this way. */
export const sectionEndpoints = (
  sections: readonly Section[],
  companySections: readonly CompanySection[],
): Endpoint<AdministerServices>[] => [
  ...sections.flatMap((section) => endpointsOf(section as Section<never>, WORKSPACE)),
  ...companySections.flatMap((section) => endpointsOf(section as Section<never>, COMPANY)),
];

function endpointsOf(section: Section<never>, owner: Owner<never>): Endpoint<AdministerServices>[] {
  const { resource, identity } = section;
  if (!resource) return [];
  return identity === undefined
    ? valueEndpoints(section, resource, owner)
    : listEndpoints(section, resource, owner, identity);
}

/** A request whose form the endpoint's own schemas have checked. */
interface Checked {
  readonly params: Params;
  readonly body: Entry;
  readonly origin: Origin;
}

/** An endpoint whose schemas are not known to the compiler. */
function administering(
  contract: Omit<Contract, "access" | "replies">,
  reply: Readonly<Record<string, TSchema>>,
  answer: (services: AdministerServices, request: Checked) => Promise<Entry>,
): Endpoint<AdministerServices> {
  const replies = { 200: Type.Object({ ...reply, message: Type.Literal("success") }) };
  return {
    contract: { ...contract, access: byAdministrator, replies },
    async handler(services, _nobody, { params, body, call }) {
      const origin = originOf(call);
      const request = { params: params as Params, body: body as Entry, origin };
      return { status: 200, body: { ...(await answer(services, request)), message: "success" } };
    },
  };
}

function listEndpoints(
  { key, schema }: Section<never>,
  resource: Resource<never>,
  owner: Owner<never>,
  identity: string,
): Endpoint<AdministerServices>[] {
  const { [identity]: Identity = Type.String(), ...members } = (schema as TObject).properties;
  const declared = Type.Boolean({ description: "Whether a manifest declared it." });
  const View = { [identity]: Identity, ...members, declared };
  const words = key.replaceAll("_", " ");
  const noun = words.replace(/s$/, "");
  const path = `${owner.path}/${key.replaceAll("_", "-")}`;
  const ofOne = {
    path: `${path}/:id`,
    params: Type.Object({ ...owner.params, id: Identity }),
  };
  const placeOf = (params: Params): Place<never> => ({
    resource,
    findTarget: owner.targetOf(params),
  });
  const find = ({ id = "" }: Params, entries: readonly Entry[]) =>
    entryNamed(entries, identity, id, noun);

  return [
    administering(
      {
        method: "GET",
        path,
        summary: `Lists the ${words} ${owner.words}.`,
        params: Type.Object(owner.params),
      },
      { [key]: Type.Array(Type.Object(View)) },
      async (services, { params }) => ({ [key]: await readEntries(services, placeOf(params)) }),
    ),
    administering(
      { ...ofOne, method: "GET", summary: `Reads a ${noun} by its ${identity}.` },
      View,
      async (services, { params }) => find(params, await readEntries(services, placeOf(params))),
    ),
    administering(
      {
        ...ofOne,
        method: "PUT",
        summary: `Makes a ${noun} with this ${identity}, or changes it.`,
        body: Type.Object(members, { additionalProperties: false }),
      },
      View,
      async (services, { params, body, origin }) => {
        const wanted = { [identity]: params.id, ...body };
        return find(params, await putEntry(services, placeOf(params), origin, wanted));
      },
    ),
    administering(
      { ...ofOne, method: "DELETE", summary: `Removes a ${noun}.` },
      {},
      async (services, { params, origin }) => {
        await removeEntry(services, placeOf(params), origin, (entries) => find(params, entries));
        return {};
      },
    ),
  ];
}

function valueEndpoints(
  { key, schema }: Section<never>,
  resource: Resource<never>,
  owner: Owner<never>,
): Endpoint<AdministerServices>[] {
  const words = `${key.replaceAll("_", " ")} ${owner.words}`;
  const at = {
    path: `${owner.path}/${key.replaceAll("_", "-")}`,
    params: Type.Object(owner.params),
  };
  const View = (schema as TObject).properties;
  const placeOf = (params: Params): Place<never> => ({
    resource,
    findTarget: owner.targetOf(params),
  });

  return [
    administering(
      { ...at, method: "GET", summary: `Reads the ${words}.` },
      View,
      async (services, { params }) => (await readEntries(services, placeOf(params)))[0] ?? {},
    ),
    administering(
      {
        ...at,
        method: "PUT",
        summary: `Sets the ${words}; what is left out is gone.`,
        body: schema,
      },
      View,
      async (services, { params, body, origin }) =>
        (await putEntry(services, placeOf(params), origin, body))[0] ?? {},
    ),
  ];
}
