import Type, { type TObject, type TSchema } from "typebox";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, type Endpoint, endpoint, type Input } from "../http/endpoint.ts";
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
 */

const Success = Type.Literal("success");

const success = { message: "success" } as const;

/** Whose sections they are, as a path and its parameters name it. */
interface Owner<Where extends Target> {
  readonly path: string;
  readonly params: Readonly<Record<string, TSchema>>;
  readonly words: string;
  targetOf(params: Readonly<Record<string, string>>): FindTarget<Where>;
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

type Params = Readonly<Record<string, string>>;

/** The parts of a request, whose form the endpoint's own schemas have checked. */
const partsOf = ({ params, body }: Pick<Input<never>, "params" | "body">) => ({
  params: (params ?? {}) as Params,
  body: body as unknown as Entry,
});

function listEndpoints(
  { key, schema }: Section<never>,
  resource: Resource<never>,
  owner: Owner<never>,
  identity: string,
): Endpoint<AdministerServices>[] {
  const { [identity]: Identity = Type.String(), ...members } = (schema as TObject).properties;
  const noun = key.replaceAll("_", " ").replace(/s$/, "");
  const all = `${owner.path}/${key.replaceAll("_", "-")}`;
  const one = `${all}/:id`;
  const View = {
    [identity]: Identity,
    ...members,
    declared: Type.Boolean({ description: "Whether a manifest declared it." }),
  };
  const OfOne = Type.Object({ ...owner.params, id: Identity });
  const access = byAdministrator;
  const placeOf = (params: Params): Place<never> => ({
    resource,
    findTarget: owner.targetOf(params),
  });
  const find = ({ id = "" }: Params, entries: readonly Entry[]) =>
    entryNamed(entries, identity, id, noun);

  const list = endpoint({
    method: "GET",
    path: all,
    summary: `Lists the ${key.replaceAll("_", " ")} ${owner.words}.`,
    access,
    params: Type.Object(owner.params),
    replies: { 200: Type.Object({ [key]: Type.Array(Type.Object(View)), message: Success }) },
  }).handledBy(async (services: AdministerServices, _nobody, input) => {
    const { params } = partsOf(input as never);
    const entries = await readEntries(services, placeOf(params));
    return { status: 200, body: { [key]: entries, ...success } as never };
  });

  const read = endpoint({
    method: "GET",
    path: one,
    summary: `Reads a ${noun} by its ${identity}.`,
    access,
    params: OfOne,
    replies: { 200: Type.Object({ ...View, message: Success }) },
  }).handledBy(async (services: AdministerServices, _nobody, input) => {
    const { params } = partsOf(input as never);
    const entry = find(params, await readEntries(services, placeOf(params)));
    return { status: 200, body: { ...entry, ...success } as never };
  });

  const put = endpoint({
    method: "PUT",
    path: one,
    summary: `Makes a ${noun} with this ${identity}, or changes it.`,
    access,
    params: OfOne,
    body: Type.Object(members, { additionalProperties: false }),
    replies: { 200: Type.Object({ ...View, message: Success }) },
  }).handledBy(async (services: AdministerServices, _nobody, input) => {
    const { params, body } = partsOf(input as never);
    const wanted = { [identity]: params.id, ...body };
    const entries = await putEntry(services, placeOf(params), originOf(input.call), wanted);
    const entry = find(params, entries);
    return { status: 200, body: { ...entry, ...success } as never };
  });

  const remove = endpoint({
    method: "DELETE",
    path: one,
    summary: `Removes a ${noun}.`,
    access,
    params: OfOne,
    replies: { 200: Type.Object({ message: Success }) },
  }).handledBy(async (services: AdministerServices, _nobody, input) => {
    const { params } = partsOf(input as never);
    const origin = originOf(input.call);
    await removeEntry(services, placeOf(params), origin, (entries) => find(params, entries));
    return { status: 200, body: success };
  });

  return [list, read, put, remove];
}

function valueEndpoints(
  { key, schema }: Section<never>,
  resource: Resource<never>,
  owner: Owner<never>,
): Endpoint<AdministerServices>[] {
  const path = `${owner.path}/${key.replaceAll("_", "-")}`;
  const name = key.replaceAll("_", " ");
  const replies = { 200: Type.Object({ ...(schema as TObject).properties, message: Success }) };
  const params = Type.Object(owner.params);
  const placeOf = (of: Params): Place<never> => ({ resource, findTarget: owner.targetOf(of) });
  const answerWith = ([value]: readonly Entry[]) =>
    ({ status: 200, body: { ...value, ...success } as never }) as const;

  const read = endpoint({
    method: "GET",
    path,
    summary: `Reads the ${name} ${owner.words}.`,
    access: byAdministrator,
    params,
    replies,
  }).handledBy(async (services: AdministerServices, _nobody, input) =>
    answerWith(await readEntries(services, placeOf(partsOf(input as never).params))),
  );

  const put = endpoint({
    method: "PUT",
    path,
    summary: `Sets the ${name} ${owner.words}; what is left out is gone.`,
    access: byAdministrator,
    params,
    body: schema,
    replies,
  }).handledBy(async (services: AdministerServices, _nobody, input) => {
    const { params, body } = partsOf(input as never);
    return answerWith(await putEntry(services, placeOf(params), originOf(input.call), body));
  });

  return [read, put];
}
