import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api/api-error.ts";
import { hooks, http, refresh, type Sent } from "../../api/client.ts";
import { useHere, useWorkspace } from "../../api/workspace.ts";
import type { CodeFault } from "../../components/code-editor.tsx";

/* Preference centers: the pages where users choose what they receive. */

const CENTERS = "/admin/v1/workspaces/{name}/preference-centers";
const CENTER = `${CENTERS}/{id}` as const;

export type CenterBody = Sent<"putPreferenceCenter">;

export const useCenters = () => hooks.useQuery("get", CENTERS, useHere());

export const useCenter = (id: string) => hooks.useQuery("get", CENTER, useHere({ id }));

export function useChangeCenters() {
  const workspace = useWorkspace();
  const onSuccess = () => refresh(CENTERS);
  const path = (id: string) => ({ params: { path: { name: workspace, id } } });
  const put = hooks.useMutation("put", CENTER, { onSuccess });
  const remove = hooks.useMutation("delete", CENTER, { onSuccess });
  return {
    put: (id: string, body: CenterBody) => put.mutateAsync({ ...path(id), body }),
    isSaving: put.isPending,
    remove: (id: string) => remove.mutateAsync(path(id)),
  };
}

/** Something wrong with a page, or something in it without effect. */
export interface PageFault extends CodeFault {
  /** The member of the center. */
  readonly field: string | undefined;
}

export interface Preview {
  /** Undefined if the page has a fault. */
  readonly html: string | undefined;
  readonly faults: readonly PageFault[];
}

export interface PreviewOptions {
  readonly page: "page" | "confirmation";
  readonly external_id?: string;
  readonly locale?: string;
}

/** A preview of a center while it is being written. */
export function usePreview(id: string, center: CenterBody | undefined, options: PreviewOptions) {
  const name = useWorkspace();
  return useQuery<Preview>({
    enabled: center !== undefined,
    queryKey: ["post", `${CENTER}/preview`, name, id, center, options],
    placeholderData: (shown) => shown,
    gcTime: 10_000,
    queryFn: async ({ signal }): Promise<Preview> => {
      try {
        const { data } = await http.POST(`${CENTER}/preview`, {
          params: { path: { name, id } },
          body: { center: center as CenterBody, ...options },
          signal,
        });
        const faults = (data?.warnings ?? []).map(({ message, field, line }) => ({
          severity: "warning" as const,
          message,
          field,
          line,
          column: undefined,
        }));
        return { html: data?.html, faults };
      } catch (error) {
        if (error instanceof ApiError && error.status === 400) {
          return { html: undefined, faults: [faultOf(error)] };
        }
        throw error;
      }
    },
  });
}

function faultOf({ message, body }: ApiError): PageFault {
  const { field, line, column } = (body ?? {}) as {
    readonly field?: string;
    readonly line?: number;
    readonly column?: number;
  };
  return { severity: "error", message, field, line, column };
}

/** The stored page. The frame with unsaved pages shows this document, because of its headers. */
export const previewAddress = (name: string, id: string): string =>
  `/admin/v1/workspaces/${encodeURIComponent(name)}/preference-centers/${encodeURIComponent(id)}/preview`;

/** @returns the address of the stored page with a sample user, which works for ten minutes. */
export async function createPreviewLink(name: string, id: string): Promise<string> {
  const { data } = await http.POST(`${CENTER}/preview-link`, {
    params: { path: { name, id } },
    body: {},
  });
  return data?.url ?? "";
}
