/* The editor of a preference center in the dashboard, as tests use it. */
import type { Page } from "playwright-core";
import type { TestServer, TestWorkspace } from "../../harness.ts";

export const ID = "main-center";

export const PAGE = `<h1>{% translation t %}Hello{% endtranslation %} {{\${first_name}}}</h1>`;

export const begin = (server: TestServer, changes: object = {}): Promise<TestWorkspace> =>
  server.workspace({
    preference_centers: [
      {
        id: ID,
        name: "main",
        state: "draft",
        page_html: PAGE,
        confirmation_html: "<p>Saved</p>",
        translations: { es: { t: "Hola" } },
        ...changes,
      },
    ],
  });
export const addressOf = ({ name }: TestWorkspace) => `/w/${name}/preference-centers/${ID}`;
export const stored = async (server: TestServer, { name }: TestWorkspace, id = ID) =>
  (await server.admin("GET", `/admin/v1/workspaces/${name}/preference-centers/${id}`)).body;
export const code = (page: Page) => page.getByRole("textbox", { name: "HTML of the page" });
export const shown = (page: Page) => page.frameLocator('iframe[title="Preview of the page"]');

/** Replaces the code with the keyboard. */
export async function write(page: Page, text: string): Promise<void> {
  await code(page).focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
}
