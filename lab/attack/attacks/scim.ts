import { type Attack, mustHold, tally, times } from "../target.ts";

/* Attacks with a SCIM token. */

const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

let userId = "";

async function createUser(target: Parameters<NonNullable<Attack["prepare"]>>[0]): Promise<void> {
  const created = await target.scim("POST", "/scim/v2/Users", {
    schemas: [USER_SCHEMA],
    userName: `attack-${Date.now()}@example.com`,
    name: { givenName: "Ada", familyName: "Lovelace" },
    department: "engineering",
    permissions: { companyPermissions: [], appGroup: [] },
  });
  mustHold(created.status === 201, created.text);
  userId = (JSON.parse(created.text) as { id: string }).id;
}

const patchOf = (count: number, before: string): Attack => ({
  name: `SCIM PATCH with ${count.toLocaleString("en")} filters as names`,
  before,
  prepare: createUser,
  run: async (target) => {
    const value = Object.fromEntries(
      times(count, (index) => [`emails[value eq "a${index}"].type`, "work"]),
    );
    const body = { schemas: [PATCH_SCHEMA], Operations: [{ op: "add", value }] };
    return tally([await target.scim("PATCH", `/scim/v2/Users/${userId}`, body)]);
  },
});

export const SCIM_ATTACKS: readonly Attack[] = [
  patchOf(2_000, "9.6 s"),
  patchOf(8_000, "over 120 s"),
  {
    name: "SCIM filter of 40 KB in a list",
    before: "not tried",
    run: async (target) => {
      const filter = times(1_000, (index) => `userName eq "a${index}"`).join(" or ");
      const path = `/scim/v2/Users?filter=${encodeURIComponent(filter)}`;
      return tally([await target.scim("GET", path)]);
    },
  },
];
