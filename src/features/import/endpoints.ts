import Type from "typebox";
import {
  ClosedObject,
  named,
  OfWorkspace,
  OnlySuccess,
  Success,
  succeeding,
  successOf,
  Text,
} from "../../core/base/values/schemas.ts";
import { ItemNote } from "../../core/base/verdicts.ts";
import { describedList } from "../../core/http/described.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { IdentifierMembers } from "../../core/people/profiles/profile-schemas.ts";
import type { PeopleServices } from "../../core/people/profiles/write-people.ts";
import type { WriteServices } from "../../core/track/write-batch.ts";
import { forgetImport, importBatch, readImport } from "./import-batch.ts";
import { IMPORT_KINDS, type RowNote } from "./import-kind.ts";
import { ImportedObject } from "./import-schema.ts";
import { importUsers } from "./import-users.ts";

const { external_id, user_alias, platform_id, email, phone } = IdentifierMembers;

/** A user of an import as the documentation describes it; check-user.ts checks each one. */
const ImportedUser = ClosedObject(
  { external_id, user_alias, platform_id, email, phone, ...ImportedObject.properties },
  {
    title: "ImportedUser",
    description: "History of one user. Exactly one identifier names the user.",
    examples: [
      {
        external_id: "ada",
        apps: [
          {
            app_id: "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
            sessions: 12,
            first_used: "2025-06-01T08:00:00Z",
            last_used: "2026-01-01T12:00:00Z",
          },
        ],
        messages: [{ message_id: "m-1", channel: "email", sent_at: "2026-01-01T12:00:00Z" }],
      },
    ],
  },
);

const Notes = Type.Optional(Type.Array(ItemNote));

const importEndpoint = endpoint({
  name: "importUsers",
  method: "POST",
  path: "/admin/v1/workspaces/:name/import",
  takesLong: true,
  summary: "Imports apps, devices, interactions and message history, which no other call writes.",
  access: byAdministratorOfWorkspace("import_update_user_data"),
  params: OfWorkspace,
  body: Type.Object({ users: describedList(ImportedUser, "Users, one object each.") }),
  hasItems: true,
  replies: {
    200: Type.Object({
      imported: Type.Integer({ minimum: 0 }),
      message: Success,
      errors: Notes,
      skipped: Notes,
    }),
  },
}).handledBy(async (services: PeopleServices, context, { body }) => {
  const done = await importUsers(services, context, body.users);
  const { imported, errors, skipped } = done;
  return {
    status: 200,
    body: {
      imported,
      message: "success",
      ...(errors.length > 0 && { errors: [...errors] }),
      ...(skipped.length > 0 && { skipped: [...skipped] }),
    },
  };
});

const ImportId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: "^[\\w.-]+$",
  description: "Identifies the file. A client that imports it again sends the same.",
});

const RowNotes = Type.Array(
  named("RowNote", {
    index: Type.Integer({ minimum: 0, description: "The place in the batch, counted from 0." }),
    outcome: Type.Enum(["rejected", "skipped", "partial"], {
      description:
        "rejected: the row is invalid; skipped: it has no effect; partial: written without one value.",
    }),
    code: Type.String(),
    message: Type.String(),
  }),
  { description: "The verdicts on rows that were rejected, skipped or partial." },
);

const batchEndpoint = endpoint({
  name: "createImport",
  method: "POST",
  path: "/admin/v1/workspaces/:name/imports/:import_id",
  takesLong: true,
  summary: "Imports consecutive rows of a file; a repeated batch is not written again.",
  access: byAdministratorOfWorkspace("import_update_user_data"),
  params: Type.Object({ name: Type.String(), import_id: ImportId }),
  body: Type.Object({
    kind: Type.Enum([...IMPORT_KINDS]),
    first_row: Type.Integer({ minimum: 1, description: "The number of the first row, from 1." }),
    rows: Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: 1_000,
      description: "Objects of the kind; anything else is rejected and counts as a row.",
      examples: [[{ external_id: "ada", first_name: "Ada" }]],
    }),
    dry_run: Type.Optional(Type.Boolean({ description: "Checks the rows and writes nothing." })),
  }),
  hasItems: true,
  replies: succeeding({
    imported: Type.Integer({ minimum: 0 }),
    notes: RowNotes,
    repeated: Type.Boolean({ description: "Whether the batch was already committed." }),
  }),
}).handledBy(async (services: WriteServices, context, { params, body }) => {
  const { imported, notes, isRepeated } = await importBatch(services, context, {
    importId: params.import_id,
    kind: body.kind,
    firstRow: body.first_row,
    rows: body.rows,
    isDryRun: body.dry_run ?? false,
  });
  return success({ imported, notes: notes.map(viewOf), repeated: isRepeated });
});

const viewOf = ({ index, outcome, code, message }: RowNote) => ({ index, outcome, code, message });

const progressEndpoint = endpoint({
  name: "getImport",
  method: "GET",
  path: "/admin/v1/workspaces/:name/imports/:import_id",
  summary: "The progress of the import of a file.",
  access: byAdministratorOfWorkspace("import_update_user_data"),
  params: Type.Object({ name: Type.String(), import_id: ImportId }),
  replies: {
    200: successOf(
      named("Import", {
        kind: Type.Enum([...IMPORT_KINDS]),
        rows_done: Type.Integer({ minimum: 0, description: "How many rows were checked." }),
        rows_imported: Type.Integer({ minimum: 0, description: "How many of them were written." }),
        started_at: Text("When the first batch was committed.", "2026-01-01T12:00:00.000Z"),
        updated_at: Type.String(),
        last_batch: Type.Object(
          {
            first_row: Type.Integer({ minimum: 1, description: "The number of its first row." }),
            notes: RowNotes,
          },
          { description: "The batch that was committed last." },
        ),
      }),
    ),
  },
}).handledBy(async (services: WriteServices, context, { params }) => {
  const found = await readImport(services, context, params.import_id);
  return success({
    kind: found.kind,
    rows_done: found.rowsDone,
    rows_imported: found.rowsImported,
    started_at: found.startedAt.toISOString(),
    updated_at: found.updatedAt.toISOString(),
    last_batch: { first_row: found.lastFirstRow, notes: found.lastNotes.map(viewOf) },
  });
});

const forgetEndpoint = endpoint({
  name: "deleteImport",
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/imports/:import_id",
  summary: "Deletes the progress of an import, so that the file can be imported again.",
  access: byAdministratorOfWorkspace("import_update_user_data"),
  params: Type.Object({ name: Type.String(), import_id: ImportId }),
  replies: { 200: OnlySuccess },
}).handledBy(async (services: WriteServices, context, { params }) => {
  await forgetImport(services, context, params.import_id);
  return success();
});

export const importEndpoints = [importEndpoint, batchEndpoint, progressEndpoint, forgetEndpoint];
