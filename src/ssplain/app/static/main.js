// The page's addresses, its frame, and the keys that work everywhere.
import { get } from "./api.js";
import { about } from "./about.js";
import { el, say } from "./dom.js";
import { home } from "./home.js";
import { worklist } from "./worklist.js";
import { workspace } from "./workspace.js";

const main = document.querySelector("#main");
let room = null;
let leave = () => {};
let keys = () => false;

/** Go to an address of the room without loading the page anew. */
export function go(path, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  return show();
}

const ROUTES = [
  [/^\/$/, () => home(room, go)],
  [/^\/image\/([a-z]+\/[0-9a-f]+)$/, ([, image]) => workspace(room, go, { image })],
  [/^\/result\/([0-9a-f]{32})$/, ([, run]) => workspace(room, go, { run })],
  [/^\/worklist\/?([a-z]*)$/, ([, source]) => worklist(room, go, source)],
  [/^\/about$/, () => about(room)],
];

async function show() {
  leave();
  leave = () => {};
  keys = () => false;
  const path = location.pathname;
  for (const link of document.querySelectorAll("nav a")) {
    const own = link.getAttribute("href");
    if (own === path || (own !== "/" && path.startsWith(own))) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const route = ROUTES.find(([pattern]) => pattern.test(path));
  try {
    if (!route) throw new Error("There is nothing at this address.");
    const shown = await route[1](route[0].exec(path));
    if (path !== location.pathname) return shown.leave?.(); // the user has gone on meanwhile
    leave = shown.leave ?? leave;
    keys = shown.keys ?? keys;
    document.title = `${shown.title} · ssplain reading room`;
    main.replaceChildren(...shown.nodes);
    shown.shown?.();
  } catch (error) {
    document.title = "ssplain reading room";
    main.replaceChildren(
      el("h1", {}, "This did not work"),
      el("p", { class: "fault" }, error.message),
      el("p", {}, el("a", { href: "/", "data-go": true }, "To the images")),
    );
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(link.getAttribute("href")).then(() => main.focus({ preventScroll: true }));
});
addEventListener("popstate", show);

// --- light and dark ----------------------------------------------------------------------------
const theme = document.querySelector("#theme");
const wanted = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (localStorage.theme ? localStorage.theme === "dark" : wanted.matches);
function dress() {
  document.documentElement.dataset.theme = dark() ? "dark" : "light";
  theme.textContent = dark() ? "Light" : "Dark";
}
theme.addEventListener("click", () => {
  localStorage.theme = dark() ? "light" : "dark";
  dress();
});
wanted.addEventListener("change", dress);
dress();

// --- keys --------------------------------------------------------------------------------------
const sheet = document.querySelector("#keysheet");
document.querySelector("#keys").addEventListener("click", () => sheet.showModal());
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || sheet.open) return;
  const typing = event.target.closest("textarea, input:not([type=range]):not([type=checkbox]):not([type=radio]), select");
  if (typing) return;
  if (event.key === "?") sheet.showModal();
  else if (!keys(event)) return;
  event.preventDefault();
});

try {
  room = await get("/api/room");
  await show();
} catch (error) {
  main.replaceChildren(el("p", { class: "fault" }, error.message));
  say(error.message, true);
}
