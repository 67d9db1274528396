import Type from "typebox";
import { IdentifierMembers } from "../../people/profiles/described.ts";
import { ImportedObject } from "./import-schema.ts";

const { external_id, user_alias, platform_id, email, phone } = IdentifierMembers;

/** A user of an import as the documentation describes it; check-user.ts checks each one. */
export const ImportedUser = Type.Object(
  { external_id, user_alias, platform_id, email, phone, ...ImportedObject.properties },
  {
    title: "ImportedUser",
    additionalProperties: false,
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
