import { type MergedProfile, selectMerged, selectMergedInto } from "./merged-store.ts";
import { type ProfileRow, selectProfiles } from "./store.ts";

/* Profiles as other folders read them. */

export type { MergedProfile } from "./merged-store.ts";
export type { ProfileRow } from "./store.ts";

/** Profiles by id, the most recently updated first; ids without a profile are left out. */
export const readProfiles: (...of: Parameters<typeof selectProfiles>) => Promise<ProfileRow[]> =
  selectProfiles;

/** Those of the ids that belonged to merged profiles, with the profile that has their data now. */
export const readMerged: (...of: Parameters<typeof selectMerged>) => Promise<MergedProfile[]> =
  selectMerged;

/** The merged profiles, and the renamed external ids, that lead to these profiles. */
export const readMergedInto: (
  ...of: Parameters<typeof selectMergedInto>
) => Promise<MergedProfile[]> = selectMergedInto;
