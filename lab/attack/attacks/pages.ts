import { type Attack, mustHold, scaled, type Target, tally, times } from "../target.ts";

/* Attacks with preference pages: HTML and Liquid of an administrator, views without a key. */

const PATH = "/preference_center/v1";

const formatting = (count: number) => times(count, (index) => `<b id=${index}>`).join("");

const field = (index: number) =>
  `<input type=checkbox name=${index}.field_name><input type=hidden name=x${index}>`;

/** Of one center: its API id. */
async function create(target: Target, name: string, page: string): Promise<string> {
  const { status, text } = await target.send("POST", PATH, {
    name: `${name}-${Date.now()}`,
    preference_center_title: "t",
    preference_center_page_html: page,
    confirmation_page_html: "<p>Saved</p>",
  });
  mustHold(status === 201, text);
  return (JSON.parse(text) as { preference_center_api_id: string }).preference_center_api_id;
}

let centerId = "";

const page = (name: string, before: string, html: string): Attack => ({
  name,
  before,
  prepare: async (target) => {
    centerId = await create(target, "attacked", "<p>Page</p>");
  },
  run: async (target) =>
    tally([
      await target.send("PUT", `${PATH}/${centerId}`, {
        name: `attacked-${Date.now()}`,
        preference_center_title: "t",
        preference_center_page_html: html,
        confirmation_page_html: "<p>Saved</p>",
      }),
    ]),
});

/** A page that is as costly as one may be. */
const COSTLY_PAGE = `<p>${"{% for a in (1..40) %}{% for b in (1..40) %}x{% endfor %}{% endfor %}".repeat(4)}</p>`;

let link = "";

export const PAGE_ATTACKS: readonly Attack[] = [
  page(
    "preference page of 330 KB: formatting that every paragraph repeats",
    "minutes, 4.6 GB",
    `<p>${formatting(240)}</p>${"<p>x</p>".repeat(40_000)}`,
  ),
  page(
    "preference page of 6,700 checkboxes with hidden inputs",
    "54 s",
    times(6_700, field).join(""),
  ),
  page("preference page of 130,900 × <br>", "500: the stack overflows", "<br>".repeat(130_900)),
  {
    name: "400 views of a costly preference page from one address",
    before: "no limit, 250 ms for each view",
    prepare: async (target) => {
      const id = await create(target, "costly", COSTLY_PAGE);
      await target.send("POST", "/users/track", {
        attributes: [{ external_id: "reader", first_name: "Ada" }],
      });
      const { text } = await target.send("GET", `${PATH}/${id}/url/reader`);
      mustHold(text.includes("preference_center_url"), text);
      link = new URL((JSON.parse(text) as { preference_center_url: string }).preference_center_url)
        .pathname;
    },
    run: async (target) => {
      const view = () => target.send("GET", link, undefined, { token: "" });
      const views = [];
      for (let turn = 0; turn < scaled(target, 20); turn++) {
        views.push(...(await Promise.all(times(20, view))));
      }
      const came = tally(views);
      mustHold(target.shrink > 1 || came.includes("429"), came);
      return came;
    },
  },
];
