const PAGE_PATH = "/preferences";

export const PAGE_ROUTE = `${PAGE_PATH}/:link`;

export const pageUrl = (baseUrl: string, link: string): string => `${baseUrl}${PAGE_PATH}/${link}`;

/** The declared path of a preview that a link opens. */
export const PREVIEW_ROUTE = "/preference-previews/:link";

export const previewUrl = (baseUrl: string, link: string): string =>
  `${baseUrl}/preference-previews/${link}`;
