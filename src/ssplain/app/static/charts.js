// Small line charts as SVG, readable without colour.
import { el, svg } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 130;
const EDGE = { left: 34, right: 8, top: 8, bottom: 22 };
const DASHES = ["", "6 4", "2 3"];

/**
 * A chart of several courses over the same steps.
 * @param lines [{name, values}]
 * @param about what it shows, for those who cannot see it
 * @param options {log, from, to, x}
 */
export function chart(lines, about, { log = false, from, to, x = "" } = {}) {
  const scaled = lines.map(({ name, values }) => ({
    name,
    values: values.map((value) => (log ? Math.log10(Math.max(value, 1e-9)) : value)),
  }));
  const all = scaled.flatMap((line) => line.values);
  const low = from ?? Math.min(...all);
  const high = to ?? Math.max(...all);
  const span = high - low || 1;
  const longest = Math.max(2, ...scaled.map((line) => line.values.length));
  const across = (i) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * i) / (longest - 1);
  const up = (value) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - (value - low) / span);
  // the margin has room for five letters: 4e-5, not 0.00004
  const short = (value) => (value > 0 && value < 1e-3 ? value.toExponential(0) : value.toString());
  const label = (value) => (log ? short(Number((10 ** value).toPrecision(1))) : short(Number(value.toPrecision(2))));
  const drawn = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": about });
  for (const value of [low, high])
    drawn.append(
      svg("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: up(value), y2: up(value), class: "axis" }),
      svg("text", { x: EDGE.left - 4, y: up(value) + 4, "text-anchor": "end" }, label(value)),
    );
  drawn.append(svg("text", { x: WIDTH - EDGE.right, y: HEIGHT - 6, "text-anchor": "end" }, x));
  scaled.forEach(({ values }, at) =>
    drawn.append(
      svg("polyline", {
        points: values.map((value, i) => `${across(i).toFixed(1)},${up(value).toFixed(1)}`).join(" "),
        class: `line line-${at}`,
        "stroke-dasharray": DASHES[at % DASHES.length],
      }),
    ),
  );
  const key = el(
    "p",
    { class: "key" },
    lines.map(({ name }, at) => {
      const stroke = svg("svg", { viewBox: "0 0 28 8", class: "stroke", "aria-hidden": "true" });
      stroke.append(svg("line", { x1: 1, x2: 27, y1: 4, y2: 4, class: `line line-${at}`, "stroke-dasharray": DASHES[at] }));
      return el("span", {}, stroke, ` ${name}`);
    }),
  );
  return el("div", {}, drawn, key);
}
