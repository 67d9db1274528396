import Type, { type TProperties } from "typebox";
import type { Context } from "../../base/context/context.ts";
import { pascalCase } from "../../base/values/pascal-case.ts";
import { ClosedObject, NullableText, named, nullable } from "../../base/values/schemas.ts";
import {
  byAdministratorOfCompany,
  byAdministratorOfWorkspace,
  type Contract,
  type Endpoint,
} from "../../http/endpoint.ts";
import { MERGED, patchingOf } from "../workspaces/merge-patch.ts";
import type { Entry } from "../workspaces/resource.ts";
import {
  type CredentialKind,
  CredentialName,
  type CredentialView,
  grantMembers,
  withArticle,
} from "./credentials.ts";
import { API_KEYS } from "./keys.ts";
import {
  type CredentialServices,
  changeCredential,
  createCredential,
  listCredentials,
  revokeCredential,
  rotateCredential,
} from "./manage-credentials.ts";
import { SCIM_TOKENS } from "./scim-tokens.ts";

/** The listed fields of every credential, in addition to its grants. */
const LIFE = {
  declared: Type.Boolean({ description: "Whether a manifest declared it." }),
  created_at: Type.String(),
  last_seen_at: nullable(Type.String(), { description: "When it was last used, to the minute." }),
  revoked_at: NullableText,
};

const lifeOf = (each: CredentialView<unknown>) => ({
  declared: each.declared,
  created_at: each.createdAt.toISOString(),
  last_seen_at: each.lastSeenAt?.toISOString() ?? null,
  revoked_at: each.revokedAt?.toISOString() ?? null,
});

const DAY_SECONDS = 24 * 3_600;

/** How long the previous secret works after a rotation, if the request does not say. */
export const DEFAULT_OVERLAP_SECONDS = DAY_SECONDS;

export const rotationBody = (description: string) =>
  ClosedObject({
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 90 * DAY_SECONDS,
        default: DEFAULT_OVERLAP_SECONDS,
        description,
      }),
    ),
  });

const ShownOnce = Type.String({
  description: "The secret. It is shown once: only its hash is stored.",
});

/** The path of a kind's endpoints, and their callers. */
interface Scope {
  readonly path: string;
  readonly params: TProperties;
  /** The owner of the list, and the subject of a change, for summaries. */
  readonly owner: string;
  readonly granted: string;
  readonly reads: Contract["access"];
  readonly writes: Contract["access"];
}

/** A request that the schemas of its endpoint have checked. */
interface Checked<Where> {
  readonly context: Where;
  readonly name: string;
  readonly body: Entry;
}

/** An endpoint whose schemas depend on the kind. */
function administering<Where extends Context>(
  { secretName }: Pick<CredentialKind<unknown>, "secretName">,
  contract: Omit<Contract, "replies">,
  reply: TProperties,
  respond: (
    services: CredentialServices,
    request: Checked<Where>,
  ) => Promise<Entry> | Promise<void>,
  status: 200 | 201 = 200,
): Endpoint<CredentialServices> {
  const message = Type.Literal("success");
  return {
    contract: { ...contract, replies: { [status]: Type.Object({ ...reply, message }) } },
    async handler(services, context, { params, body }) {
      const name = (params as Readonly<Record<string, string>>)[secretName] ?? "";
      // The check of `access` has resolved the owner.
      const request = { context: context as unknown as Where, name, body: body as Entry };
      return {
        status,
        body: { ...(await respond(services, request)), message: "success" },
        // Only the caller may see a secret in a response.
        ...(secretName in reply && { headers: { "cache-control": "no-store" } }),
      };
    },
  };
}

const credentialEndpoints = <Grant, Where extends Context>(
  kind: CredentialKind<Grant, Where>,
  scope: Scope,
): Endpoint<CredentialServices>[] => [...ofAll(kind, scope), ...ofOne(kind, scope)];

const overlapEndOf = (kind: CredentialKind<unknown>) => `previous_${kind.secretName}_until`;

function ofAll<Grant, Where extends Context>(
  kind: CredentialKind<Grant, Where>,
  { path, params, owner, reads, writes }: Scope,
) {
  const { noun, secretName, members, defaults, grantOf, membersOf } = kind;
  const overlapEnd = overlapEndOf(kind);
  const title = pascalCase(noun);
  const list = path.slice(path.lastIndexOf("/") + 1).replaceAll("-", "_");
  const at = { path, params: Type.Object(params) };
  const View = named(title, {
    name: Type.String(),
    ...members,
    [overlapEnd]: nullable(Type.String(), {
      description: "While two secrets are valid: when the previous one expires.",
    }),
    ...LIFE,
  });
  const viewOf = (each: CredentialView<Grant>) => ({
    name: each.name,
    ...membersOf(each),
    [overlapEnd]: each.overlapUntil?.toISOString() ?? null,
    ...lifeOf(each),
  });
  return [
    administering<Where>(
      kind,
      {
        name: `list${title}s`,
        ...at,
        method: "GET",
        access: reads,
        summary: `Lists the ${noun}s of ${owner}, including revoked ones.`,
      },
      { [list]: Type.Array(View) },
      async (services, { context }) => {
        const found = await listCredentials(services, kind, context);
        return { [list]: found.map(viewOf) };
      },
    ),
    administering<Where>(
      kind,
      {
        name: `create${title}`,
        ...at,
        method: "POST",
        access: writes,
        secrets: [secretName],
        summary: `Creates ${withArticle(noun)} and shows its secret once.`,
        body: ClosedObject({ name: CredentialName, ...grantMembers(kind) }),
      },
      { name: Type.String(), [secretName]: ShownOnce },
      async (services, { context, body: { name: given, ...wanted } }) => {
        const name = given as string;
        const grant = grantOf({ ...defaults, ...wanted });
        const secret = await createCredential(services, kind, context, name, grant);
        return { name, [secretName]: secret };
      },
      201,
    ),
  ];
}

function ofOne<Grant, Where extends Context>(
  kind: CredentialKind<Grant, Where>,
  { path, params, granted, writes }: Scope,
) {
  const { noun, secretName, members } = kind;
  const patching = patchingOf(ClosedObject(grantMembers(kind)));
  const overlapEnd = overlapEndOf(kind);
  const aNoun = withArticle(noun);
  const title = pascalCase(noun);
  const one = {
    path: `${path}/:${secretName}`,
    params: Type.Object({ ...params, [secretName]: Type.String() }),
    access: writes,
  };
  return [
    administering<Where>(
      kind,
      {
        name: `rotate${title}`,
        ...one,
        path: `${one.path}/rotate`,
        method: "POST",
        secrets: [secretName],
        summary: `Gives ${aNoun} a new secret, shown once; the previous one stays valid for an overlap.`,
        body: rotationBody(
          "How long the previous secret remains valid: time to deploy the new one. A day by default.",
        ),
      },
      { name: Type.String(), [secretName]: ShownOnce, [overlapEnd]: Type.String() },
      async (services, { context, name, body }) => {
        const seconds = (body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS) as number;
        const rotated = await rotateCredential(services, kind, context, name, seconds);
        return { name, [secretName]: rotated.secret, [overlapEnd]: rotated.overlapUntil };
      },
    ),
    administering<Where>(
      kind,
      {
        name: `change${title}`,
        ...one,
        method: "PUT",
        summary: `Changes the ${granted} of ${aNoun}; its secret stays.`,
        body: ClosedObject(members),
      },
      {},
      (services, { context, name, body }) =>
        changeCredential(services, kind, context, name, () => body, false),
    ),
    administering<Where>(
      kind,
      {
        name: `patch${title}`,
        ...one,
        method: "PATCH",
        summary: `Changes the given fields of ${aNoun}, whose secret stays; ${MERGED}`,
        refusals: ["NOT_FOUND", "CONFLICT"],
        body: patching.body,
      },
      {},
      async (services, { context, name, body: patch }) => {
        const wanted = (present: Entry) => patching.apply(present, patch);
        await changeCredential(services, kind, context, name, wanted, true);
      },
    ),
    administering<Where>(
      kind,
      {
        name: `revoke${title}`,
        ...one,
        method: "DELETE",
        summary: `Revokes ${aNoun}: its secrets stop working. This cannot be undone.`,
      },
      {},
      (services, { context, name }) => revokeCredential(services, kind, context, name),
    ),
  ];
}

export const apiKeyEndpoints = credentialEndpoints(API_KEYS, {
  path: "/admin/v1/workspaces/:name/api-keys",
  params: { name: Type.String() },
  owner: "a workspace",
  granted: "permissions and allowed addresses",
  reads: byAdministratorOfWorkspace("dev_console"),
  writes: byAdministratorOfWorkspace("admin"),
});

export const scimTokenEndpoints = credentialEndpoints(SCIM_TOKENS, {
  path: "/admin/v1/scim-tokens",
  params: {},
  owner: "the company",
  granted: "service origin",
  reads: byAdministratorOfCompany("manage_company_settings"),
  writes: byAdministratorOfCompany("admin"),
});
