import type { TSchema } from "typebox";
import type { Contract } from "../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/server/assembled.ts";

/* The texts that a person of a workspace, a caller with one of its keys, or anyone may send, from the declarations. */

interface Described {
  readonly type?: string;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly patternProperties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: boolean | Described;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly allOf?: readonly Described[];
}

/** The places of free texts in a schema, with dots; `[]` is an entry of a list, `*` a name that the caller chooses. */
function* textsIn(schema: Described, place: string): Generator<string> {
  for (const each of [schema.anyOf, schema.oneOf, schema.allOf].flat()) {
    if (each) yield* textsIn(each, place);
  }
  if (schema.items) yield* textsIn(schema.items, `${place}[]`);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    yield* textsIn(member, `${place}.${name}`);
  }
  const { patternProperties = {}, additionalProperties } = schema;
  for (const member of Object.values(patternProperties)) yield* textsIn(member, `${place}.*`);
  if (typeof additionalProperties === "object") yield* textsIn(additionalProperties, `${place}.*`);
  const isFree = schema.enum === undefined && schema.const === undefined;
  if (schema.type === "string" && isFree) yield place;
}

const isOfWorkspace = ({ access }: Contract): boolean =>
  access.by === "administrator" ? access.of === "workspace" : access.by !== "scim";

/** Every operation that is open without a role in the company. */
export const OPERATIONS: readonly Contract[] = ENDPOINTS.map(({ contract }) => contract).filter(
  isOfWorkspace,
);

/** Such as `putWebhook body.url`. */
export const FIELDS: readonly string[] = [
  ...new Set(
    OPERATIONS.flatMap(({ name, params, query, body }) =>
      Object.entries({ params, query, body }).flatMap(([part, schema]) =>
        schema
          ? [...textsIn(schema as TSchema as Described, part)].map((at) => `${name} ${at}`)
          : [],
      ),
    ),
  ),
];

/** The last part of a field: `url` of `putWebhook body.url`. */
export const lastName = (field: string): string =>
  field.split(/[ .]/).at(-1)?.replaceAll("[]", "") ?? "";

/**
 * Fields with these names are ids, texts, times or secrets: they name no host, folder, file,
 * database or workspace.
 */
export const NO_PLACES: ReadonlySet<string> = new Set(
  `cursor platform_id import_id external_ids alias_name alias_label platform_ids braze_ids braze_id email_address phone
   since until attribute query id event into subscription_group_id emails phones external_id email start_date end_date search
   types segment_id count_id user_id ending_at dead_letter_id from dead_letter integration_id run_id schedule schedule_time_zone campaign_id
   message_variation_id locale_id workflow_id canvas_id step_id * step_ids source_language preference_center_id
   preference_center_title meta-viewport-content sizes color locale title link blocked_external_ids company color_dark
   description country language locale_key tags secret ip_allowlist key admin_token status code
   time_zone user_name password current_password passkey session rawId authenticatorAttachment clientDataJSON
   attestationObject authenticatorData signature userHandle transports`.split(/\s+/),
);

/** Fields that name no place although their name does elsewhere. */
export const NO_PLACES_HERE: ReadonlySet<string> = new Set([
  "downloadSegmentExport params.token",
  "listChanges query.user",
  "listMerges query.user",
  "listUsers query.filter",
  "listUsers query.columns[]",
  // Nothing is mailed by a test.
  "testIntegrationChange body.contact_emails",
  "getChanges query.user",
  "getCaptured query.path",
  "deleteCaptured query.path",
  "submitPreferencePage body",
  "listLiveRequests query.user",
  "streamLiveRequests query.user",
  "listLiveRequests query.endpoint",
  "streamLiveRequests query.endpoint",
]);
