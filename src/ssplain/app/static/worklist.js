// The worklist: every image of a set, what the model says, what the reader says; sorted and filtered.
import { get, thumb } from "./api.js";
import { chance, el } from "./dom.js";
import { blind, follow, reader, readerFields } from "./reader.js";

const DISAGREES = (row) => (row.label !== null && row.label !== row.decision) || (row.grade && row.grade !== row.decision);
const FILTERS = {
  all: ["All", () => true],
  disagree: ["Disagreements", (row) => row.state === "read" && DISAGREES(row)],
  uncertain: ["Uncertain", (row) => row.uncertain],
  refused: ["Refused", (row) => row.state === "refused"],
  open: ["Not graded by me", (row) => !row.grade && row.state !== "refused"],
};
const URGENCY = (row) => (row.state === "refused" ? 0 : row.state === "waiting" ? 4 : DISAGREES(row) ? 1 : row.uncertain ? 2 : 3);
const ORDERS = {
  urgency: ["Needs a look first", (row) => [URGENCY(row), row.probability ?? 2]],
  place: ["As in the folder", () => []],
  severity: ["Most severe first", (row) => [-(row.severity ?? 0)]],
  probability: ["Least certain first", (row) => [row.probability ?? 2]],
};
const EACH = 60;

export async function worklist(room, go, source) {
  const names = room.sets.map((one) => one.name);
  if (!source) source = ["job", "folder"].find((name) => names.includes(name)) ?? names[0];
  const parameters = new URLSearchParams(location.search);
  const state = { filter: parameters.get("show") ?? "all", order: parameters.get("order") ?? "urgency", many: EACH };
  if (!(state.filter in FILTERS)) state.filter = "all";
  if (!(state.order in ORDERS)) state.order = "urgency";
  let known = await load();
  let gone = false;

  function load() {
    return get(`/api/worklist/${source}`, { reader: reader() });
  }

  const body = el("tbody");
  const count = el("p", { class: "note", role: "status" });
  const more = el("button", { type: "button", onclick: () => ((state.many += EACH), draw()) }, "Show more");
  const choose = (id, label, options, key) => {
    const field = el(
      "select",
      {
        id,
        onchange: () => {
          state[key] = field.value;
          state.many = EACH;
          history.replaceState(null, "", `/worklist/${source}?show=${state.filter}&order=${state.order}`);
          draw();
        },
      },
      Object.entries(options).map(([name, [text]]) => el("option", { value: name, selected: name === state[key] }, text)),
    );
    return el("label", { for: id }, `${label} `, field);
  };
  const sets = el(
    "select",
    { id: "set", onchange: () => go(`/worklist/${sets.value}`) },
    room.sets.map((one) => el("option", { value: one.name, selected: one.name === source }, one.title)),
  );
  const refresh = async () => {
    known = await load();
    draw();
  };
  const csv = el("a", { download: true }, "My grades as CSV");

  function draw() {
    const [, keeps] = FILTERS[state.filter];
    const [, rank] = ORDERS[state.order];
    const chosen = known.rows.map((row, at) => [row, [...rank(row), at]]).filter(([row]) => keeps(row));
    chosen.sort(([, a], [, b]) => a.reduce((found, value, i) => found || value - b[i], 0));
    const rows = chosen.map(([row]) => row);
    follow(rows.map((row) => row.image));
    body.replaceChildren(...rows.slice(0, state.many).map(line));
    more.hidden = rows.length <= state.many;
    const graded = known.rows.filter((row) => row.grade).length;
    count.textContent = `${rows.length} of ${known.rows.length} images shown in this list; ${graded} graded by you${known.waiting ? `; ${source === "job" ? `the job has still to work on ${known.waiting}` : `the model has still to look at ${known.waiting}`}` : ""}.${known.total > known.rows.length ? ` The job has ${known.total} images; those that failed come first here.` : ""}`;
    csv.href = `/api/grades.csv?${new URLSearchParams({ reader: reader() })}`;
    csv.hidden = graded === 0;
  }

  const tick = async () => {
    while (!gone) {
      await new Promise((done) => setTimeout(done, known.waiting ? 1000 : 15000));
      if (gone) return;
      const before = JSON.stringify(known);
      known = await load().catch(() => known);
      if (!gone && JSON.stringify(known) !== before) draw();
    }
  };
  draw();
  tick();

  return {
    title: "Worklist",
    nodes: [
      el("h1", {}, "Worklist"),
      el(
        "div",
        { class: "controls" },
        el("label", { for: "set" }, "Images ", sets),
        choose("show", "Show", FILTERS, "filter"),
        choose("order", "Order", ORDERS, "order"),
      ),
      el("div", { class: "controls" }, ...readerFields(refresh), csv),
      count,
      el(
        "table",
        { class: "numbers worklist" },
        el("thead", {}, el("tr", {}, ["Image", "Model says", "Severity", "Known", "My grade", "Remarks"].map((name) => el("th", { scope: "col" }, name)))),
        body,
      ),
      more,
    ],
    leave: () => (gone = true),
  };
}

function line(row) {
  const hidden = blind() && !row.grade && row.state === "read";
  // what a job has not explained has no picture here
  const seen = row.state !== "refused" && !(row.image.startsWith("job/") && row.state === "waiting");
  const remarks = [];
  if (row.state === "refused") remarks.push(row.message);
  if (row.state === "waiting") remarks.push("not looked at yet");
  if (!hidden && row.state === "read") {
    if (row.label !== null && row.label !== row.decision) remarks.push("the model is wrong");
    if (row.grade && row.grade !== row.decision) remarks.push("you and the model differ");
    if (row.uncertain) remarks.push("uncertain");
  }
  if (row.note) remarks.push(`“${row.note}”`);
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el(
        "a",
        { href: `/image/${row.image}`, "data-go": true, "data-image": row.image },
        seen ? el("img", { src: thumb(row.image), alt: "", loading: "lazy", width: 56, height: 56 }) : el("span", { class: "blank" }),
        el("span", {}, row.title),
      ),
    ),
    el("td", {}, hidden ? "hidden" : row.decision ? `${row.decision} (${chance(row.probability)})` : "–"),
    el("td", { class: "number" }, hidden || row.severity === null ? "–" : row.severity.toFixed(1)),
    el("td", {}, hidden ? "hidden" : (row.label ?? "–")),
    el("td", {}, row.grade ? `${row.grade}${row.blind ? " (blind)" : ""}` : "–"),
    el("td", { class: row.state === "refused" ? "caution" : "" }, remarks.join("; ")),
  );
}
