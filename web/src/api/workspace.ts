import { useParams } from "@tanstack/react-router";

/** The workspace that the address names; empty on the pages of the company. */
export const useWorkspace = (): string => useParams({ strict: false }).workspace ?? "";

/** The parameters of a request about that workspace, or about something in it. */
export const useHere = <Other extends object>(other?: Other) => ({
  params: { path: { name: useWorkspace(), ...(other as Other) } },
});

/** The same with a query. */
export const useHereWith = <const Query extends object, Other extends object>(
  query: Query,
  other?: Other,
) => ({ params: { ...useHere(other).params, query } });
