/* Which permission each endpoint requires. That a key without it is refused: every-endpoint.test.ts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathsOf } from "../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/app.ts";

/** spec: Authentication, the table; docs/conformance.md#permissions-beyond-the-table-of-the-specification. */
const PERMISSION_OF: Readonly<Record<string, string>> = {
  "/users/track": "users.track",
  "/users/track/bulk": "users.track.bulk",
  "/users/track/sync": "users.track.sync",
  "/users/export/ids": "users.export.ids",
  "/v2/subscription/status/set": "subscription.status.set",
  "/subscription/status/set": "subscription.status.set",
  "/subscription/status/get": "subscription.status.get",
  "/subscription/user/status": "subscription.groups.get",
  "/email/status": "email.status",
  "/email/unsubscribes": "email.unsubscribe",
  "/email/hard_bounces": "email.hard_bounces",
  "/email/bounce/remove": "email.bounce.remove",
  "/email/blocklist": "email.blacklist",
  "/email/blacklist": "email.blacklist",
  "/users/merge": "users.merge",
  "/users/identify": "users.identify",
  "/users/alias/new": "users.alias.new",
  "/users/alias/update": "users.alias.update",
  "/users/delete": "users.delete",
  "/users/external_ids/rename": "users.external_ids.rename",
  "/users/external_ids/remove": "users.external_ids.remove",
  "/cdi/integrations": "cdi.integration_list",
  "/cdi/integrations/:integration_id/job_sync_status": "cdi.integration_job_status",
  "/cdi/integrations/:integration_id/sync": "cdi.integration_sync",
  "/preference_center/v1/list": "preference_center.list",
  "/preference_center/v1": "preference_center.update",
  "GET /preference_center/v1/:preference_center_id": "preference_center.get",
  "PUT /preference_center/v1/:preference_center_id": "preference_center.update",
  "POST /preference_center/v1/:preference_center_id": "preference_center.update",
  "/preference_center/v1/:preference_center_id/url/:user_id": "preference_center.user.get",
};

test("an endpoint requires the permission that the specification or design assigns to its path", () => {
  for (const { contract } of ENDPOINTS) {
    for (const path of pathsOf(contract)) {
      const expected = PERMISSION_OF[path] ?? PERMISSION_OF[`${contract.method} ${path}`];
      if (expected === undefined) continue;
      const { access } = contract;
      assert.equal(access.by === "key" && access.permission, expected, path);
    }
  }
});
