/*
 * An authenticator as WebAuthn describes it, as far as tests need one: it makes a passkey for a site and signs with it. Browsers'
 * own are in the tests of pages.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();

const USER_PRESENT_AND_VERIFIED = 0x05;
const HAS_CREDENTIAL = 0x40;

/** What a person's browser says of the request, and how the authenticator may deviate. */
interface Asked {
  readonly challenge: string;
  readonly origin: string;
  /** By default the host of the origin. */
  readonly rpId?: string;
  /** Whether a finger or a PIN was asked for. */
  readonly isVerified?: boolean;
}

/** A passkey in the pocket of a person. */
export function createAuthenticator(userId: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(16);
  let counter = 0;

  const dataFor = (
    { origin, rpId = new URL(origin).hostname, isVerified = true }: Asked,
    extra = 0,
  ) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter++);
    const flags = (isVerified ? USER_PRESENT_AND_VERIFIED : 0x01) | extra;
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
  };
  const clientData = (type: string, { challenge, origin }: Asked) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const common = {
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    clientExtensionResults: {},
  };

  return {
    id: common.id,
    /** What `navigator.credentials.create()` returns, as JSON. @param format of the attestation. */
    create(asked: Asked, format = "none") {
      const key = Buffer.concat([
        Buffer.from("a5010203262001215820", "hex"),
        Buffer.from(x, "base64url"),
        Buffer.from("225820", "hex"),
        Buffer.from(y, "base64url"),
      ]);
      const length = Buffer.from([0, id.length]);
      const data = Buffer.concat([
        dataFor(asked, HAS_CREDENTIAL),
        Buffer.alloc(16),
        length,
        id,
        key,
      ]);
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        text("fmt"),
        text(format),
        text("attStmt"),
        Buffer.from([0xa0]),
        text("authData"),
        Buffer.from([0x58, data.length]),
        data,
      ]);
      return {
        ...common,
        response: {
          clientDataJSON: clientData("webauthn.create", asked).toString("base64url"),
          attestationObject: attestation.toString("base64url"),
          transports: ["internal"],
        },
      };
    },
    /** What `navigator.credentials.get()` returns, as JSON. @param handle whose passkey it says that it is. */
    get(asked: Asked, handle = userId) {
      const data = dataFor(asked);
      const client = clientData("webauthn.get", asked);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      return {
        ...common,
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
          userHandle: Buffer.from(handle).toString("base64url"),
        },
      };
    },
  };
}

/** A short text in CBOR. */
const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
