// What stands beside the pictures: the decision, how good each map is, the vessels, the course.
import { chart } from "./charts.js";
import { chance, el, percent } from "./dom.js";

/** The probabilities as bars, the highest first, and how steady they are. */
export function decision(known) {
  const { prediction, classes, label, target } = known;
  const order = prediction.probabilities.map((p, i) => [p, i]).sort((a, b) => b[0] - a[0]);
  const winner = order[0][1];
  const shown = order.slice(0, 5);
  const tried = prediction.stays !== null;
  const unsure = order[0][0] < 0.7 || (tried && (prediction.stays < 1 || prediction.lowest < 0.5));
  return [
    el("p", { class: "verdict" }, "The model says ", el("b", {}, classes[winner]), ` (${chance(order[0][0])})`),
    el(
      "ul",
      { class: "bars" },
      shown.map(([p, i]) =>
        el(
          "li",
          { class: i === winner ? "first" : "" },
          el("span", {}, classes[i]),
          meter(p),
          el("span", { class: "number" }, chance(p)),
        ),
      ),
    ),
    prediction.severity !== null
      ? el("p", {}, "Severity ", el("b", {}, prediction.severity.toFixed(1)), el("span", { class: "note" }, " on the scale from 1 (normal) to 9 (plus disease)"))
      : null,
    el(
      "p",
      { class: unsure ? "caution" : "note" },
      unsure ? "Uncertain: it may well be wrong. " : "",
      tried ? steadiness(prediction) : "How steady the decision is was not tried in this job.",
    ),
    known.outside?.length
      ? el("p", { class: "refuse" }, el("b", {}, "Do not rely on this decision: "), `the image is unlike those that the model was trained on. ${known.outside.map((text) => `${text[0].toUpperCase()}${text.slice(1)}.`).join(" ")}`)
      : null,
    label !== null && label !== undefined
      ? el("p", {}, "Known to be ", el("b", {}, classes[label] ?? String(label)), label === winner ? "." : el("span", { class: "caution" }, ": the model is wrong here."))
      : null,
    target !== undefined && target !== winner ? el("p", {}, "The maps explain ", el("b", {}, classes[target]), ".") : null,
  ].filter(Boolean);
}

function steadiness({ changes, stays, lowest }) {
  const often = stays === 1 ? "every time" : `in ${percent(stays)} of the cases`;
  return `${changes[0].toUpperCase()}${changes.slice(1)}: it says the same ${often} (probability at least ${chance(lowest).replace("> ", "")}).`;
}

export function meter(p) {
  const bar = el("span", { class: "meter" });
  const fill = el("i", {});
  fill.style.width = `${100 * p}%`;
  bar.append(fill);
  return bar;
}

/** One map's checks. */
export function quality(one, className, unchecked = "The checks of this map are still to come.") {
  const title = el("h3", {}, one.title);
  if (one.complaint) return el("div", { class: "check" }, title, el("p", { class: "caution" }, one.complaint));
  if (!one.checks) return el("div", { class: "check" }, title, el("p", { class: "note" }, unchecked));
  const { checks } = one;
  const fails = checks.complaints.length > 0;
  return el(
    "div",
    { class: "check" },
    title,
    fails
      ? el("p", { class: "refuse" }, el("b", {}, "Do not rely on this map. "), checks.complaints.join(" "))
      : el("p", { class: "pass" }, checks.order === null ? "Passes the one check that its job made; Explain makes all three." : el("b", {}, "Passes its three checks.")),
    el(
      "table",
      { class: "numbers" },
      el(
        "tbody",
        {},
        row(`${className}, whole image`, chance(checks.whole)),
        row("with only the kept pixels", chance(checks.only)),
        row("without them", chance(checks.without)),
        checks.order === null ? null : row("order of pixels (1 is best)", `${checks.order.toFixed(2)}; at random ${Math.max(...checks.luck).toFixed(2)}`),
        row("stays under a little noise", checks.steady === null ? "not tried" : `${percent(checks.steady)} of its top quarter`),
      ),
    ),
    !checks.insertion ? null : chart(
      [
        { name: "put in, best first", values: checks.insertion },
        { name: "taken out, best first", values: checks.deletion },
      ],
      `Probability of ${className} as pixels of ${one.title} are put in or taken out`,
      { from: 0, to: 1, x: "share of pixels, 0 to 100 %" },
    ),
  );
}

const row = (name, value) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, value));

/** The course of the solver, for explainers that iterate. */
export function course(one) {
  if (!one.history?.objective?.length) return null;
  return el(
    "div",
    {},
    el("h3", {}, one.title),
    chart([{ name: "objective", values: one.history.objective }], `Objective of ${one.title} per iteration`, { x: "iteration" }),
    chart(
      [
        { name: "primal residual", values: one.history.primal },
        { name: "dual residual", values: one.history.dual },
      ],
      `Residuals of ${one.title} per iteration`,
      { log: true, x: "iteration" },
    ),
  );
}

/** The branches as a table; each row picks its branch. */
export function branchTable(branches, chosen, pick, point) {
  const number = (value, digits) => (value === null ? "–" : value.toFixed(digits));
  const head = ["Branch", "Width px", "Tortuosity 1/px", "Arc/chord", "Curvature 1/px", "Length px"];
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of branches" },
    el(
      "table",
      { class: "numbers" },
      el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
      el(
        "tbody",
        {},
        branches.map((branch) =>
          el(
            "tr",
            { onmouseenter: () => point(branch.label), onmouseleave: () => point(null) },
            el(
              "th",
              { scope: "row" },
              el("button", { type: "button", class: "link", "aria-pressed": String(chosen.has(branch.label)), onclick: () => pick(branch.label) }, String(branch.label)),
            ),
            el("td", { class: "number" }, number(branch.width, 1)),
            el("td", { class: "number" }, number(branch.tortuosity, 4)),
            el("td", { class: "number" }, number(branch.arc_over_chord, 2)),
            el("td", { class: "number" }, number(branch.curvature, 3)),
            el("td", { class: "number" }, number(branch.length, 0)),
          ),
        ),
      ),
    ),
  );
}

/** What is under the pointer: the branch with its numbers, and the rank of the pixel in each map. */
export function pointed(branch, panes, pixel, count) {
  const number = (value, digits) => value?.toFixed(digits) ?? "–";
  const lines = [];
  if (branch) {
    lines.push(`Branch ${branch.label}: ${number(branch.width, 1)} px wide, ${number(branch.length, 0)} px long`);
    lines.push(`tortuosity ${number(branch.tortuosity, 4)} 1/px, curvature ${number(branch.curvature, 3)} 1/px`);
  }
  for (const pane of panes) if (pane.layer) lines.push(`${pane.title}: rank ${pane.layer.rank[pixel] + 1} of ${count}`);
  return lines;
}

/** What the model says of a part, and of the rest. */
export function answered(answer, classes, target) {
  const line = (name, values) => {
    const winner = values.indexOf(Math.max(...values));
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", {}, el("b", {}, classes[winner]), ` ${chance(values[winner])}`),
      el("td", { class: "number" }, chance(values[target])),
    );
  };
  const before = answer.whole.indexOf(Math.max(...answer.whole));
  const after = answer.without.indexOf(Math.max(...answer.without));
  return [
    el(
      "p",
      { class: before === after ? "" : "caution" },
      before === after
        ? `Without this part (${percent(answer.share)} of the drawn pixels) the model still says ${classes[after]}.`
        : `Without this part (${percent(answer.share)} of the drawn pixels) the model says ${classes[after]} instead of ${classes[before]}.`,
    ),
    el(
      "table",
      { class: "numbers" },
      el("thead", {}, el("tr", {}, el("td"), el("th", { scope: "col" }, "Model says"), el("th", { scope: "col" }, classes[target]))),
      el("tbody", {}, line("Whole image", answer.whole), line("Only this part", answer.only), line("Without it", answer.without)),
    ),
  ];
}
