// The four quarters of an eye: how much of a map lies in each, and how bent the vessels are there.
import { el, percent } from "./dom.js";
import { pixels } from "./paint.js";

export const PLACES = ["upper left", "upper right", "lower left", "lower right"];

/** What a place in the picture is called; nasal and temporal need the side of the eye. */
export function placeName(place, side) {
  if (!side) return place;
  const [height, hand] = place.split(" ");
  return `${height === "upper" ? "superior" : "inferior"} ${hand === side ? "nasal" : "temporal"}`;
}

/** Where the lines lie that part the quadrants: at the disc of an eye that was read, else in the middle. */
export function cross(picture, reading) {
  return reading ? { x: reading.centre[1], y: reading.centre[0] } : { x: picture.width / 2, y: picture.height / 2 };
}

/**
 * The table.
 * @param options {picture, lines, branches, panes, share, reading, side}
 */
export function quadrantTable({ picture, lines, branches, panes, share, reading, side }) {
  const where = (column, row) => (row > lines.y ? 2 : 0) + (column > lines.x ? 1 : 0);
  const bends = PLACES.map((_, at) => branches.filter((b) => where(b.column, b.row) === at && b.tortuosity !== null));
  const most = pixels(picture, share);
  const counts = panes.filter((pane) => pane.layer).map((pane) => {
    const found = [0, 0, 0, 0];
    for (let i = 0; i < pane.layer.rank.length; i++)
      if (picture.inside[i] && pane.layer.rank[i] < most) found[where(i % picture.width, Math.floor(i / picture.width))]++;
    return { title: pane.title, shares: found.map((n) => n / Math.max(1, most)) };
  });
  const mean = (of, key) => {
    const known = of.filter((one) => one[key] !== null && one.length !== null);
    const length = known.reduce((sum, one) => sum + one.length, 0);
    return length ? known.reduce((sum, one) => sum + one[key] * one.length, 0) / length : null;
  };
  const cell = (value, shownAs) => el("td", { class: "number" }, value === null || value === undefined ? "–" : shownAs(value));
  const line = (name, cells) => el("tr", {}, el("th", { scope: "row" }, name), cells);
  const about = reading?.disc ? "the optic disc" : reading ? "the middle of the field" : "the middle of the image";
  return el(
    "table",
    { class: "numbers" },
    el("caption", {}, `Quadrants about ${about}`),
    el("thead", {}, el("tr", {}, el("td"), PLACES.map((place) => el("th", { scope: "col" }, placeName(place, side))))),
    el(
      "tbody",
      {},
      counts.map(({ title, shares }) => line(`Top pixels, ${title}`, shares.map((one) => cell(one, percent)))),
      line("Mean tortuosity, 1/px", bends.map((of, at) => cell(reading ? reading.quadrants[at].vessels.tortuosity : mean(of, "tortuosity"), (v) => v.toFixed(4)))),
      line("Mean width, px", bends.map((of, at) => cell(reading ? reading.quadrants[at].vessels.calibre_px : mean(of, "width"), (v) => v.toFixed(1)))),
      reading ? line("Grade without it", reading.quadrants.map((one) => el("td", { class: "number" }, `${one.removed.grade}, ${one.removed.severity.toFixed(1)}`))) : null,
      reading ? line("Grade of it alone", reading.quadrants.map((one) => el("td", { class: "number" }, `${one.alone.grade}, ${one.alone.severity.toFixed(1)}`))) : null,
    ),
  );
}
