import Type from "typebox";
import { NullableText, nullable, succeeding } from "../../base/values/schemas.ts";
import { byAdministrator, endpoint, success } from "../../http/endpoint.ts";
import { readSealing, rotateSealing, SealedCounts, type SealingServices } from "./rotate.ts";

const Count = (description: string) => Type.Integer({ description });

const readEndpoint = endpoint({
  name: "getSecretKey",
  method: "GET",
  path: "/admin/v1/secret-key",
  summary: "Shows the key that seals stored secrets, and how many secrets each key has sealed.",
  access: byAdministrator("manage_company_settings"),
  replies: succeeding({
    key_id: nullable(Type.String(), {
      description:
        "The key in use; null if none is decided yet: on the embedded engine before the first secret is stored.",
    }),
    secret_key_id: NullableText,
    previous_secret_key_id: NullableText,
    secrets: SealedCounts,
  }),
}).handledBy(async (services: SealingServices) => {
  const { keyId, counts } = await readSealing(services);
  const { current, previous } = services.sealing.keys;
  return success({
    key_id: keyId,
    secret_key_id: current?.id ?? null,
    previous_secret_key_id: previous?.id ?? null,
    secrets: counts,
  });
});

const rotateEndpoint = endpoint({
  name: "rotateSecretKey",
  method: "POST",
  path: "/admin/v1/secret-key/rotate",
  summary: "Seals every stored secret with SECRET_KEY.",
  access: byAdministrator("admin"),
  replies: succeeding({
    resealed: Count("Secrets that were sealed with the previous key, or not at all."),
    unreadable: Count("Secrets that cannot be opened; they are left unchanged."),
  }),
}).handledBy(async (services: SealingServices, context) => {
  const { previous, plain, unreadable } = await rotateSealing(services, context);
  return success({ resealed: previous + plain, unreadable });
});

export const sealingEndpoints = [readEndpoint, rotateEndpoint];
