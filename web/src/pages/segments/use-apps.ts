import { hooks } from "../../api/client.ts";
import { APPS } from "../../api/entries.ts";

export const useApps = (name: string) =>
  hooks.useQuery("get", APPS, { params: { path: { name } } });
