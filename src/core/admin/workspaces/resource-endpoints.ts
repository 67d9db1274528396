import Type, { type TObject, type TSchema } from "typebox";
import type { Context } from "../../base/context/context.ts";
import type {
  CompanyPermission,
  WorkspacePermission,
} from "../../base/context/dashboard-permissions.ts";
import { pascalCase } from "../../base/values/pascal-case.ts";
import { ClosedObject, named, OnlySuccess, Success, successOf } from "../../base/values/schemas.ts";
import {
  byAdministrator,
  byAdministratorOfCompany,
  byAdministratorOfWorkspace,
  type Contract,
  type Endpoint,
  success,
} from "../../http/endpoint.ts";
import {
  type AdministerServices,
  entryNamed,
  patchEntry,
  putEntry,
  removeEntry,
} from "./administer.ts";
import { MERGED, patchingOf } from "./merge-patch.ts";
import {
  type Editable,
  type Entry,
  isEditable,
  type MaybeEditable,
  type ResourcePermissions,
} from "./resource.ts";

/*
 * The endpoints of a resource. A list has GET for all, and GET, PUT, PATCH and DELETE for one entry; a
 * single value has GET, PUT and PATCH. They check with the schema that the manifest is checked with.
 * decision: docs/decisions/one-resource-at-a-time.md.
 */

interface Owner {
  readonly path: string;
  readonly params: Readonly<Record<string, TSchema>>;
  /** For summaries. */
  readonly words: string;
  access(permission: ResourcePermissions["read"]): Contract["access"];
}

const SERVER: Owner = {
  path: "/admin/v1",
  params: {},
  words: "",
  access: (permission) => byAdministrator(permission as CompanyPermission),
};

const COMPANY: Owner = {
  ...SERVER,
  words: " of the company",
  access: (permission) => byAdministratorOfCompany(permission as CompanyPermission),
};

const WORKSPACE: Owner = {
  path: "/admin/v1/workspaces/:name",
  params: { name: Type.String() },
  words: " of a workspace",
  access: (permission) => byAdministratorOfWorkspace(permission as WorkspacePermission),
};

/** Every resource, by its owner. Resources without `read` have their own endpoints. */
export interface Resources {
  readonly ofServer: readonly MaybeEditable[];
  readonly ofCompany: readonly MaybeEditable[];
  readonly ofWorkspace: readonly MaybeEditable[];
}

/** The `/admin/v1` endpoints of every resource that can be edited one entry at a time. */
export const resourceEndpoints = ({
  ofServer,
  ofCompany,
  ofWorkspace,
}: Resources): Endpoint<AdministerServices>[] => [
  ...ofServer.filter(isEditable).flatMap((resource) => endpointsOf(resource, SERVER)),
  ...ofCompany.filter(isEditable).flatMap((resource) => endpointsOf(resource, COMPANY)),
  ...ofWorkspace.filter(isEditable).flatMap((resource) => endpointsOf(resource, WORKSPACE)),
];

const endpointsOf = (resource: Editable<Context>, owner: Owner): Endpoint<AdministerServices>[] =>
  resource.identity === undefined
    ? valueEndpoints(resource, owner)
    : listEndpoints(resource, owner, resource.identity);

/** A request that the schemas of its endpoint have checked. */
interface Checked {
  readonly params: Readonly<Record<string, string>>;
  readonly body: Entry;
  readonly context: Context;
}

/** An endpoint whose schemas depend on the resource. */
function administering(
  contract: Omit<Contract, "replies">,
  reply: TSchema,
  respond: (services: AdministerServices, request: Checked) => Promise<Entry>,
): Endpoint<AdministerServices> {
  return {
    contract: { ...contract, replies: { 200: reply } },
    async handler(services, context, { params, body }) {
      const request = { params: params as Checked["params"], body: body as Entry, context };
      return success(await respond(services, request));
    },
  };
}

const DECLARED = Type.Boolean({ description: "Whether a manifest declared it." });

const accessTo = ({ permissions }: Editable<Context>, owner: Owner) =>
  [
    { access: owner.access(permissions.read) },
    { access: owner.access(permissions.write) },
  ] as const;

/** A union has no members; its resource has a `body`. */
function listEndpoints(
  resource: Editable<Context>,
  owner: Owner,
  identity: string,
): Endpoint<AdministerServices>[] {
  const { key, schema, parameter = "id" } = resource;
  const { [identity]: Identity = Type.String(), ...rest } =
    (schema as Partial<TObject>).properties ?? {};
  const words = key.replaceAll("_", " ");
  const noun = words.replace(/s$/, "");
  const title = pascalCase(noun);
  const View = named(title, resource.view ?? { [identity]: Identity, ...rest, declared: DECLARED });
  const reply = successOf(View);
  const [reads, writes] = accessTo(resource, owner);
  const all = {
    path: `${owner.path}/${key.replaceAll("_", "-")}`,
    params: Type.Object(owner.params),
  };
  const one = {
    path: `${all.path}/:${parameter}`,
    params: Type.Object({ ...owner.params, [parameter]: Identity }),
  };
  const find = (entries: readonly Entry[], { params }: Checked) =>
    entryNamed(entries, identity, params[parameter] ?? "", noun);

  const list = administering(
    {
      name: `list${title}s`,
      ...all,
      ...reads,
      method: "GET",
      summary: `Lists the ${words}${owner.words}.`,
    },
    Type.Object({ [key]: Type.Array(View), message: Success }),
    async ({ database }, { context }) => ({ [key]: await resource.read(database, context) }),
  );
  const read = administering(
    {
      name: `get${title}`,
      ...one,
      ...reads,
      method: "GET",
      summary: `Reads the ${noun} with this ${identity}.`,
    },
    reply,
    async ({ database }, request) => find(await resource.read(database, request.context), request),
  );
  const body = resource.body ?? ClosedObject(rest);
  const writing = { ...one, ...writes, body };
  const put = administering(
    {
      name: `put${title}`,
      ...writing,
      method: "PUT",
      summary: `Creates the ${noun} with this ${identity}, or changes it; omitted fields reset to their defaults.`,
    },
    reply,
    async (services, request) => {
      const wanted = { [identity]: request.params[parameter], ...request.body };
      return find(await putEntry(services, resource, request.context, wanted), request);
    },
  );
  const patch = patchEndpoint(
    resource,
    {
      name: `patch${title}`,
      ...writing,
      summary: `Changes the given fields of the ${noun} with this ${identity}; ${MERGED}`,
      refusals: ["NOT_FOUND"],
    },
    reply,
    find,
  );
  if (!resource.remove) return [list, read, put, patch];
  const remove = administering(
    {
      name: `delete${title}`,
      ...one,
      ...writes,
      method: "DELETE",
      summary: `Removes the ${noun} with this ${identity}.`,
    },
    OnlySuccess,
    async (services, request) => {
      await removeEntry(services, resource, request.context, (entries) => find(entries, request));
      return {};
    },
  );
  return [list, read, put, patch, remove];
}

function valueEndpoints(resource: Editable<Context>, owner: Owner): Endpoint<AdministerServices>[] {
  const { path, params, words } = owner;
  const [reads, writes] = accessTo(resource, owner);
  const { key, schema } = resource;
  const at = {
    path: `${path}/${key.replaceAll("_", "-")}`,
    params: Type.Object(params),
  };
  const members = resource.view ?? (schema as TObject).properties;
  // The settings have a name already.
  const reply =
    "title" in schema
      ? Type.Object({ ...members, message: Success })
      : successOf(named(pascalCase(key), members));
  const what = `${key.replaceAll("_", " ")}${words}`;
  const body = resource.body ?? schema;
  const only = (entries: readonly Entry[]) => entries[0] ?? {};
  return [
    administering(
      {
        name: `get${pascalCase(key)}`,
        ...at,
        ...reads,
        method: "GET",
        summary: `Reads the ${what}.`,
      },
      reply,
      async ({ database }, { context }) => only(await resource.read(database, context)),
    ),
    administering(
      {
        name: `put${pascalCase(key)}`,
        ...at,
        ...writes,
        method: "PUT",
        summary: `Sets the ${what}; omitted fields reset to their defaults.`,
        body,
      },
      reply,
      async (services, request) =>
        only(await putEntry(services, resource, request.context, request.body)),
    ),
    patchEndpoint(
      resource,
      {
        name: `patch${pascalCase(key)}`,
        ...at,
        ...writes,
        summary: `Changes the given fields of the ${what}; ${MERGED}`,
        body,
      },
      reply,
      only,
    ),
  ];
}

/** @param contract with the body of PUT. */
function patchEndpoint(
  resource: Editable<Context>,
  { body, ...contract }: Omit<Contract, "replies" | "method" | "body"> & { body: TSchema },
  reply: TSchema,
  pick: (entries: readonly Entry[], request: Checked) => Entry,
): Endpoint<AdministerServices> {
  const patching = patchingOf(body, resource.patchExample);
  return administering(
    { ...contract, method: "PATCH", body: patching.body },
    reply,
    async (services, request) => {
      const find = (entries: readonly Entry[]) => pick(entries, request);
      const given = { patching, patch: request.body };
      return find(await patchEntry(services, resource, request.context, find, given));
    },
  );
}
