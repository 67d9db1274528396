import Type from "typebox";
import { Text } from "../../core/base/values/schemas.ts";

/* Passkeys as browsers write them in JSON: https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON */

const Bytes = (description: string, maxLength: number, example: string) =>
  Text(`${description} In base64url.`, example, { maxLength, pattern: "^[A-Za-z0-9_-]*$" });

const Id = Bytes("The id of the passkey.", 2_048, "q83vEjRWeJA");

const OPEN = { additionalProperties: true };

const COMMON = {
  id: Id,
  rawId: Id,
  type: Type.Literal("public-key"),
  clientExtensionResults: Type.Object(
    {},
    { ...OPEN, description: "What extensions of the browser say; nothing is read of it." },
  ),
  authenticatorAttachment: Type.Optional(
    Text("Where the authenticator is; nothing is read of it.", "platform", { maxLength: 64 }),
  ),
};

const ClientData = Bytes(
  "What the browser says of the request.",
  8_192,
  "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
);

export const CreatedPasskey = Type.Object(
  {
    ...COMMON,
    response: Type.Object(
      {
        clientDataJSON: ClientData,
        attestationObject: Bytes("The passkey.", 32_768, "o2NmbXRkbm9uZQ"),
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 64, examples: ["internal"] }), {
            maxItems: 20,
            description: "How the authenticator can be reached.",
          }),
        ),
      },
      { ...OPEN, description: "The passkey, and what the browser says of the request." },
    ),
  },
  { ...OPEN, title: "CreatedPasskey", description: "What the browser returned, as JSON." },
);

/** What a passkey says to a challenge. */
export const UsedPasskey = Type.Object(
  {
    ...COMMON,
    response: Type.Object(
      {
        clientDataJSON: ClientData,
        authenticatorData: Bytes("What the authenticator says.", 8_192, "SZYN5YgOjGh0NBcP"),
        signature: Bytes("The signature over both.", 8_192, "MEUCIQDx"),
        userHandle: Type.Optional(Bytes("Whose passkey it is.", 256, "MDE5YThiNTQ")),
      },
      { ...OPEN, description: "What the authenticator and the browser say, signed." },
    ),
  },
  { ...OPEN, title: "UsedPasskey", description: "What the browser returned, as JSON." },
);

/** For `navigator.credentials`, as JSON. */
export const PasskeyOptions = Type.Record(Type.String(), Type.Unknown(), {
  description: "The options for navigator.credentials, as JSON.",
  examples: [{ challenge: "q83vEjRWeJA", rpId: "rapport.example", userVerification: "required" }],
});
