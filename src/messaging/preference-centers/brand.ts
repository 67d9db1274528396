import type { WorkspaceSettings } from "../../base/context/workspace-settings.ts";

/* How a workspace presents itself on its pages: `brand` in its settings. */

export type Brand = WorkspaceSettings["brand"];

/**
 * The brand as pages see it: the declared colors, and for each the one of black and white that is
 * easier to read on it.
 */
export function brandView({ company, logo_url, color, color_dark = color }: Brand) {
  return {
    company,
    logo_url,
    color,
    on_color: color && inkOn(color),
    color_dark,
    on_color_dark: color_dark && inkOn(color_dark),
  };
}

/** Contrast is the same against both at this luminance: (0.179 + 0.05) / 0.05 = 1.05 / 0.229. WCAG 2.2, 1.4.3. */
const MIDDLE = 0.179;

const inkOn = (color: string): string => (luminanceOf(color) > MIDDLE ? "#000000" : "#ffffff");

/** WCAG 2.2: relative luminance. @param color such as #3453d1 */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
