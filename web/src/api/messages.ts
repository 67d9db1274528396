import {
  hooks,
  http,
  queryClient,
  type Received,
  refresh,
  type Schemas,
  type Sent,
} from "./client.ts";
import { LOCALES } from "./entries.ts";
import { useHere, useWorkspace } from "./workspace.ts";

/* Campaigns, canvases, their messages, and the translations of these. */

const WORKSPACE = "/admin/v1/workspaces/{name}";
const MESSAGE = `${WORKSPACE}/messages/{id}` as const;

export type Message = Schemas["Message"];
export type Imported = Received<"importTranslationsFromCsv">;
export type Locale = Schemas["Locale"];

export const useCampaigns = () => hooks.useQuery("get", `${WORKSPACE}/campaigns`, useHere());

export const useCanvases = () => hooks.useQuery("get", `${WORKSPACE}/canvases`, useHere());

export const useLocales = () => hooks.useQuery("get", LOCALES, useHere());

export const useMessage = (id: string) => hooks.useQuery("get", MESSAGE, useHere({ id }));

/** Creates and removes campaigns, canvases and messages. */
export function useChangeCampaigns() {
  const workspace = useWorkspace();
  const onSuccess = () => refresh(`${WORKSPACE}/campaigns`, `${WORKSPACE}/canvases`, MESSAGE);
  const of = (id: string) => ({ params: { path: { name: workspace, id } } });
  const campaign = hooks.useMutation("put", `${WORKSPACE}/campaigns/{id}`, { onSuccess });
  const canvas = hooks.useMutation("put", `${WORKSPACE}/canvases/{id}`, { onSuccess });
  const message = hooks.useMutation("put", MESSAGE, { onSuccess });
  const noCampaign = hooks.useMutation("delete", `${WORKSPACE}/campaigns/{id}`, { onSuccess });
  const noCanvas = hooks.useMutation("delete", `${WORKSPACE}/canvases/{id}`, { onSuccess });
  return {
    putCampaign: (id: string, name: string) => campaign.mutateAsync({ ...of(id), body: { name } }),
    putCanvas: (id: string, name: string, step_ids: readonly string[]) =>
      canvas.mutateAsync({ ...of(id), body: { name, step_ids: [...step_ids] } }),
    putMessage: (id: string, body: Sent<"putMessage">) => message.mutateAsync({ ...of(id), body }),
    removeCampaign: (id: string) => noCampaign.mutateAsync(of(id)),
    removeCanvas: (id: string) => noCanvas.mutateAsync(of(id)),
  };
}

/** Sets one string of a message in one locale; an empty text removes it. */
export function useTranslate(id: string) {
  const workspace = useWorkspace();
  const { mutateAsync } = hooks.useMutation("patch", `${MESSAGE}/translations/{locale_id}`);
  return async (locale: Locale, key: string, text: string): Promise<void> => {
    await mutateAsync({
      params: { path: { name: workspace, id, locale_id: locale.id } },
      body: { translation_map: { [key]: text === "" ? null : text } },
    });
    const init = { params: { path: { name: workspace, id } } };
    // The shown list is updated with the change itself: reading thousands of strings again would
    // take a while.
    queryClient.setQueryData<Message>(
      hooks.queryOptions("get", MESSAGE, init).queryKey,
      (message) => message && withString(message, locale.locale_key, key, text),
    );
  };
}

function withString(message: Message, localeKey: string, key: string, text: string): Message {
  const { [key]: _, ...others } = message.translations[localeKey] ?? {};
  const map = text === "" ? others : { ...others, [key]: text };
  return { ...message, translations: { ...message.translations, [localeKey]: map } };
}

export type FileKind = "csv" | "xliff";

const MEDIA_TYPES = { csv: "text/csv", xliff: "application/xliff+xml" } as const;

/** The strings of a message and their translations as a file. */
export async function exportTranslations(
  name: string,
  id: string,
  kind: FileKind,
  locale_id?: string,
): Promise<{ text: string; type: string }> {
  const params = { path: { name, id }, query: locale_id ? { locale_id } : {} };
  const { data } = await http.GET(`${MESSAGE}/translations.${kind}`, {
    params: params as never,
    parseAs: "text",
  });
  return { text: data as string, type: MEDIA_TYPES[kind] };
}

/** Imports a file; strings that it omits stay the same. */
export async function importTranslations(
  name: string,
  id: string,
  kind: FileKind,
  file: File,
): Promise<Imported> {
  const { data } = await http.PUT(`${MESSAGE}/translations.${kind}`, {
    params: { path: { name, id } },
    headers: { "Content-Type": MEDIA_TYPES[kind] },
    body: (await file.text()) as never,
    bodySerializer: (text) => text,
  });
  await refresh(MESSAGE);
  return data as Imported;
}
