/* Which permission each endpoint requires. That a key without it is refused: every-endpoint.test.ts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathsOf } from "../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/server/assembled.ts";

/**
 * spec: Authentication, the table; docs/conformance.md#permissions-beyond-the-table-of-the-specification.
 * Without the slash that some paths may end with.
 */
const PERMISSION_OF: Readonly<Record<string, string>> = {
  "POST /users/track": "users.track",
  "POST /users/track/bulk": "users.track.bulk",
  "POST /users/track/sync": "users.track.sync",
  "POST /users/export/ids": "users.export.ids",
  "POST /users/export/segment": "users.export.segment",
  "POST /v2/subscription/status/set": "subscription.status.set",
  "POST /subscription/status/set": "subscription.status.set",
  "GET /subscription/status/get": "subscription.status.get",
  "GET /subscription/user/status": "subscription.groups.get",
  "POST /email/status": "email.status",
  "GET /email/unsubscribes": "email.unsubscribe",
  "GET /email/hard_bounces": "email.hard_bounces",
  "POST /email/bounce/remove": "email.bounce.remove",
  "POST /email/blocklist": "email.blacklist",
  "POST /email/blacklist": "email.blacklist",
  "POST /users/merge": "users.merge",
  "POST /users/identify": "users.identify",
  "POST /users/alias/new": "users.alias.new",
  "POST /users/alias/update": "users.alias.update",
  "POST /users/delete": "users.delete",
  "POST /users/external_ids/rename": "users.external_ids.rename",
  "POST /users/external_ids/remove": "users.external_ids.remove",
  "GET /events/list": "events.list",
  "GET /events": "events.get",
  "GET /custom_attributes": "custom_attributes.get",
  "GET /purchases/product_list": "purchases.product_list",
  "GET /changes": "changes.get",
  "GET /segments/list": "segments.list",
  "GET /segments/details": "segments.details",
  "GET /segments/data_series": "segments.data_series",
  "GET /cdi/integrations": "cdi.integration_list",
  "GET /cdi/integrations/:integration_id/job_sync_status": "cdi.integration_job_status",
  "POST /cdi/integrations/:integration_id/sync": "cdi.integration_sync",
  "GET /campaign/translations": "campaigns.translations.get",
  "GET /campaigns/translations": "campaigns.translations.get",
  "GET /campaign/translations/source": "campaigns.translations.get",
  "GET /campaigns/translations/source": "campaigns.translations.get",
  "PUT /campaign/translations": "campaigns.translations.update",
  "PUT /campaigns/translations": "campaigns.translations.update",
  "GET /canvas/translations": "canvas.translations.get",
  "GET /canvases/translations": "canvas.translations.get",
  "GET /canvas/translations/source": "canvas.translations.get",
  "GET /canvases/translations/source": "canvas.translations.get",
  "PUT /canvas/translations": "canvas.translations.update",
  "PUT /canvases/translations": "canvas.translations.update",
  "GET /preference_center/v1/list": "preference_center.list",
  "POST /preference_center/v1": "preference_center.update",
  "GET /preference_center/v1/:preference_center_id": "preference_center.get",
  "PUT /preference_center/v1/:preference_center_id": "preference_center.update",
  "POST /preference_center/v1/:preference_center_id": "preference_center.update",
  "GET /preference_center/v1/:preference_center_id/url/:user_id": "preference_center.user.get",
};

test("an endpoint requires the permission that the specification or design assigns to its path", () => {
  const required: Record<string, string> = {};
  for (const { contract } of ENDPOINTS) {
    const { access, method } = contract;
    if (access.by !== "key") continue;
    for (const path of pathsOf(contract)) {
      required[`${method} ${path.replace(/\/$/, "")}`] = access.permission;
    }
  }
  // A path that is in one of the two only fails, too: a new endpoint needs its line in the table.
  assert.deepEqual(required, PERMISSION_OF);
});
