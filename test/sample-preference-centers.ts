/* The requests of sample-requests.ts for preference centers and their pages. */
import { randomUUID } from "node:crypto";
import type { TestServer } from "./harness.ts";
import type { Admin, Sample, Samples } from "./sample-administration.ts";

export const ofPreferenceCenters = (server: TestServer, admin: Admin): Samples => {
  const pages = { page_html: "<p>Page</p>", confirmation_html: "<p>Thanks</p>" };
  const html = {
    preference_center_page_html: pages.page_html,
    confirmation_page_html: pages.confirmation_html,
  };
  const newName = () => `c-${randomUUID()}`;
  const center = { id: "sample-center" };
  let key = "";
  const ofCenter = async (more: Sample = {}): Promise<Sample> => {
    // A random request may have given the name of an earlier sample to another center.
    const body = { name: newName(), ...pages };
    await admin("PUT", `/preference-centers/${center.id}`, { body });
    return { params: { ...center, preference_center_id: center.id, user_id: "ada" }, ...more };
  };
  const ofPage = async (more: Sample = {}): Promise<Sample> => {
    await ofCenter();
    key ||= (await admin("POST", "/api-keys", { body: { name: newName(), permissions: ["all"] } }))
      .body.key;
    const user = { external_id: "ada", email: "ada@example.com" };
    await server.send("POST", "/users/track", { attributes: [user] }, { key });
    const path = `/preference_center/v1/${center.id}/url/ada`;
    const { body } = await server.send("GET", path, undefined, { key });
    // If another test leaves no room for the user, the link is invalid.
    const link = body.preference_center_url?.split("/").at(-1) ?? "none";
    return { params: { link }, ...more };
  };
  const PATH = "/preference_center/v1";
  const ADMIN = "/admin/v1/workspaces/:name/preference-centers";
  return {
    [`GET ${PATH}/list`]: () => ({}),
    [`POST ${PATH}`]: () => ({ body: { name: newName(), ...html } }),
    [`GET ${PATH}/:preference_center_id`]: () => ofCenter(),
    [`PUT ${PATH}/:preference_center_id`]: () => ofCenter({ body: html }),
    [`POST ${PATH}/:preference_center_id`]: () => ofCenter({ body: html }),
    [`GET ${PATH}/:preference_center_id/url/:user_id`]: async () => {
      await ofPage();
      return ofCenter();
    },
    [`GET ${ADMIN}`]: () => ({}),
    [`GET ${ADMIN}/:id`]: () => ofCenter(),
    [`PUT ${ADMIN}/:id`]: () => ofCenter({ body: { name: "sample", title: newName(), ...pages } }),
    [`PATCH ${ADMIN}/:id`]: () => ofCenter({ body: { title: newName() } }),
    [`DELETE ${ADMIN}/:id`]: async () => {
      const id = newName();
      await admin("PUT", `/preference-centers/${id}`, { body: { name: id } });
      return { params: { id } };
    },
    [`GET ${ADMIN}/:id/preview`]: () =>
      ofPage().then(() => ofCenter({ query: { external_id: "ada" } })),
    [`POST ${ADMIN}/:id/preview`]: () =>
      ofPage().then(() =>
        ofCenter({ body: { center: { name: "sample", ...pages }, external_id: "ada" } }),
      ),
    [`POST ${ADMIN}/:id/preview-link`]: () => ofCenter({ body: { locale: "es" } }),
    "GET /preference-previews/:link": async () => {
      await ofCenter();
      const path = `/preference-centers/${center.id}/preview-link`;
      const { body } = await admin("POST", path, { body: {} });
      return { params: { link: String(body.url).split("/").at(-1) ?? "none" } };
    },
    "GET /preferences/:link": () => ofPage(),
    "POST /preferences/:link": () =>
      ofPage({
        raw: "List-Unsubscribe=One-Click",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
  };
};
