// The controls above and below the views: what to show, how much, with which tool.
import { el, percent } from "./dom.js";
import { legend, pixels } from "./paint.js";

const MODES = { overlay: "Overlay", map: "Map", top: "Top pixels", image: "Image" };
const TOOLS = { move: "Move", pick: "Pick a branch", paint: "Paint", erase: "Erase" };

/** A row of radio buttons that look like one switch. */
function choice(legendText, name, options, chosen, change) {
  const buttons = Object.entries(options).map(([value, text]) =>
    el(
      "label",
      {},
      el("input", { type: "radio", name, value, checked: value === chosen, onchange: () => change(value) }),
      el("span", {}, text),
    ),
  );
  return el("fieldset", { class: "switch" }, el("legend", {}, legendText), buttons);
}

const slider = (props) => el("input", { type: "range", ...props });

/**
 * The controls of a viewer.
 * @param options {picture, tables, how, vessels, truth, mapped}
 * @param heard functions: show(changes), tool(name), brush(size), clear(), layer(name, on)
 */
export class Controls {
  constructor({ picture, tables, how, vessels, truth, drawn = "drawn" }, heard) {
    Object.assign(this, { picture, tables, how, heard, drawn });
    const change = (changes) => heard.show(changes);
    this.modes = choice("Show", "mode", MODES, how.mode, (mode) => change({ mode }));
    this.share = slider({ id: "share", min: "0", max: "1000", oninput: () => change({ share: toShare(this.share.value) }) });
    this.shareText = el("output", { for: "share" });
    this.opacity = slider({ id: "opacity", min: "0", max: "100", oninput: () => change({ opacity: this.opacity.value / 100 }) });
    this.colours = el(
      "select",
      { id: "colours", onchange: () => change({ colours: this.colours.value }) },
      Object.keys(tables).map((name) => el("option", { value: name, selected: name === how.colours }, name)),
    );
    this.strip = el("canvas", { width: 160, height: 10, class: "legend", role: "img", "aria-label": "Colours from the lowest to the highest score" });
    this.halves = el("input", { type: "checkbox", id: "halves", onchange: () => change({ curtain: this.halves.checked ? 0.5 : null }) });
    this.curtain = slider({ id: "curtain", min: "0", max: "100", "aria-label": "Before and after: where the image ends and the map begins", oninput: () => change({ curtain: this.curtain.value / 100 }) });
    const offered = { ...TOOLS };
    if (!vessels) delete offered.pick;
    this.tools = choice("Tool", "tool", offered, "move", (tool) => heard.tool(tool));
    this.brush = slider({ id: "brush", min: "1", max: String(Math.max(8, Math.round(picture.width / 5))), oninput: () => heard.brush(Number(this.brush.value)) });
    const layer = (name, text) =>
      el("label", { class: "tick" }, el("input", { type: "checkbox", id: `layer-${name}`, onchange: (event) => heard.layer(name, event.target.checked) }), ` ${text}`);
    this.top = el(
      "div",
      { class: "controls", role: "group", "aria-label": "Views" },
      this.modes,
      el("label", { class: "tick", for: "halves" }, this.halves, " Before/after"),
      this.curtain,
      vessels ? layer("quadrants", "Quadrants") : null,
      truth ? layer("truth", "Planted disease") : null,
    );
    this.middle = el(
      "div",
      { class: "controls", role: "group", "aria-label": "Map" },
      el("label", { class: "wide", for: "share" }, el("span", {}, "Top share"), this.share, this.shareText),
      el("label", { for: "opacity" }, el("span", {}, "Opacity"), this.opacity),
      el("label", { for: "colours" }, el("span", {}, "Colours"), this.colours),
      el("span", { class: "scale" }, "low ", this.strip, " high"),
    );
    this.bottom = el(
      "div",
      { class: "controls", role: "group", "aria-label": "Tools" },
      this.tools,
      el("label", { for: "brush" }, el("span", {}, "Brush"), this.brush),
      el("button", { type: "button", onclick: heard.clear }, "Clear"),
    );
    this.mapped(false);
    this.update(how);
  }

  /** Controls of maps rest until there is one. */
  mapped(any) {
    for (const one of [this.share, this.opacity, this.colours, this.halves]) one.disabled = !any;
    for (const input of this.modes.querySelectorAll("input")) input.disabled = !any;
    this.any = any;
    this.curtain.disabled = !any || !this.halves.checked;
  }

  update(how) {
    this.how = how;
    for (const input of this.modes.querySelectorAll("input")) input.checked = input.value === how.mode;
    this.share.value = fromShare(how.share);
    const count = pixels(this.picture, how.share);
    const all = this.picture.width * this.picture.height;
    const said = `${percent(how.share, how.share < 0.1 ? 1 : 0)} of the ${this.drawn} pixels: ${count} of ${this.picture.count} (${percent(count / all, 1)} of the image)`;
    this.shareText.textContent = said;
    this.share.setAttribute("aria-valuetext", said);
    this.opacity.value = Math.round(100 * how.opacity);
    this.colours.value = how.colours;
    this.halves.checked = how.curtain !== null;
    this.curtain.hidden = how.curtain === null;
    this.curtain.disabled = !this.any || how.curtain === null;
    if (how.curtain !== null) this.curtain.value = Math.round(100 * how.curtain);
    legend(this.strip, this.tables[how.colours]);
  }

  setTool(name) {
    const input = this.tools.querySelector(`input[value="${name}"]`);
    if (input) input.checked = true;
    return Boolean(input);
  }
}

// the slider is finer where the share is small: that is where maps differ
const toShare = (value) => (value / 1000) ** 2;
const fromShare = (share) => Math.round(1000 * Math.sqrt(share));
