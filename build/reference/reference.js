/* The search, copy buttons and consoles of the site at /docs. Pages are complete without it. */

/** The samples name the address of this server. */
for (const code of document.querySelectorAll("pre code")) {
  for (const node of code.childNodes) {
    node.textContent = node.textContent.replaceAll("http://127.0.0.1:8080", location.origin);
  }
}

for (const pre of document.querySelectorAll(".sample pre, main > pre")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2_000);
  });
  const figure = pre.closest("figure") ?? wrapped(pre);
  figure.append(button);
}

function wrapped(pre) {
  const figure = document.createElement("figure");
  figure.className = "sample";
  pre.replaceWith(figure);
  figure.append(pre);
  return figure;
}

// Beside the contents the navigation scrolls by itself: to the entry of this page.
const current = document.querySelector("nav [aria-current]");
if (current) current.offsetParent.scrollTop = current.offsetTop - innerHeight / 3;

/* Search */

const MOST_FOUND = 20;

const form = document.querySelector("form[role=search]");
const input = form.querySelector("input");
const results = form.querySelector("#results");
const list = form.querySelector("#found");
const count = form.querySelector("#count");
form.hidden = false;

let index;

/** Title, address and further words of everything that is found; loaded for the first search. */
function loadIndex() {
  index ??= fetch("/docs/search.json").then((response) => {
    if (!response.ok) throw new Error(`The index of the search is missing: ${response.status}.`);
    return response.json();
  });
  return index;
}

/** How well an entry fits: a word in the title counts more than one in the text, and all have to be there. */
function scoreOf([title, path, text], words) {
  const inTitle = title.toLowerCase();
  const all = `${inTitle} ${text.toLowerCase()}`;
  let score = path.includes("#") ? 0 : 1;
  for (const word of words) {
    if (!all.includes(word)) return 0;
    const at = inTitle.indexOf(word);
    if (at >= 0) score += at === 0 || /[\W_]/.test(inTitle[at - 1]) ? 8 : 4;
    score += 1;
  }
  return score;
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    results.hidden = true;
    return;
  }
  const entries = await loadIndex();
  const found = entries
    .map((entry) => [scoreOf(entry, words), entry])
    .filter(([score]) => score > 0)
    .sort(([one], [other]) => other - one);
  list.replaceChildren(
    ...found.slice(0, MOST_FOUND).map(([, [title, path, text]]) => {
      const link = document.createElement("a");
      link.href = path;
      link.textContent = title;
      const about = document.createElement("span");
      about.textContent = text.slice(0, 120);
      link.append(about);
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
  const shown = found.length > MOST_FOUND ? `The best ${MOST_FOUND} of ` : "";
  count.textContent = found.length === 0 ? "Nothing found" : `${shown}${found.length} found`;
  results.hidden = false;
}

input.addEventListener("input", () => {
  search().catch((error) => {
    index = undefined;
    count.textContent = error.message;
    results.hidden = false;
  });
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
form.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    results.hidden = true;
    input.focus();
  } else if (event.key === "ArrowDown" && !results.hidden) {
    links[Math.min(at + 1, links.length - 1)]?.focus();
    event.preventDefault();
  } else if (event.key === "ArrowUp" && at >= 0) {
    (at === 0 ? input : links[at - 1]).focus();
    event.preventDefault();
  }
});
form.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget && !form.contains(relatedTarget)) results.hidden = true;
});
document.addEventListener("click", ({ target }) => {
  if (!form.contains(target)) results.hidden = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
  input.focus();
  event.preventDefault();
});

/* Consoles */

/** So many characters of a response are shown. */
const MOST_SHOWN = 100_000;

/** The key stays in this tab, so that the next call need not ask for it. */
const KEPT = "rapport-reference";

for (const panel of document.querySelectorAll("form.console")) {
  panel.hidden = false;
  const { key, origin, path, body } = panel.elements;
  const name = `${KEPT}:${panel.querySelector("label")?.firstChild.textContent}`;
  if (key) key.value = sessionStorage.getItem(name) ?? "";
  const button = panel.querySelector("button");
  const status = panel.querySelector("[role=status]");
  const answer = panel.querySelector("pre");
  panel.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (key) sessionStorage.setItem(name, key.value);
    button.disabled = true;
    status.textContent = "";
    answer.hidden = true;
    try {
      const response = await send(panel.dataset.method, { key, origin, path, body });
      answer.textContent = pretty(await response.text()).slice(0, MOST_SHOWN);
      answer.hidden = false;
      status.textContent = `${response.status} ${response.statusText}`;
    } catch (error) {
      status.textContent = error.message;
    }
    button.disabled = false;
  });
}

function send(method, { key, origin, path, body }) {
  if (!path.value.startsWith("/")) throw new Error("The path begins with a slash.");
  return fetch(location.origin + path.value, {
    method,
    // Only what the form has: no session of the dashboard.
    credentials: "omit",
    headers: {
      ...(key && { authorization: `Bearer ${key.value}` }),
      ...(origin && { "x-request-origin": origin.value }),
      ...(body && { "content-type": body.dataset.type }),
    },
    ...(body && { body: body.value }),
  });
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
