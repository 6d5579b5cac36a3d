// Choosing explainers, class and settings; the bar while they work.
import { el, percent } from "./dom.js";

const FAMILIES = { ssplain: "SSplain", gradient: "By gradients", perturbation: "By perturbation", control: "Controls" };
const LABELS = {
  budget: "Budget: share of pixels kept",
  tv_weight: "Weight of smoothness",
  iterations: "Iterations",
  lr: "Learning rate",
  rho: "Penalty rho",
};
const MOST = 6;

/**
 * The form.
 * @param room what the room offers
 * @param known the image, its model and classes
 * @param chosen {explainers, target, settings} to begin with
 * @param heard functions: run(wanted), stop(), model(name)
 */
export class ExplainForm {
  constructor(room, known, chosen, heard) {
    this.room = room;
    const wanted = new Set(chosen.explainers);
    this.boxes = room.explainers.map((one) =>
      el("input", { type: "checkbox", value: one.name, checked: wanted.has(one.name), onchange: () => this.count() }),
    );
    const model = el(
      "select",
      { id: "model", onchange: () => heard.model(model.value) },
      room.models.map((one) => el("option", { value: one.name, selected: one.name === known.model }, one.name)),
    );
    this.target = el(
      "select",
      { id: "target" },
      el("option", { value: "" }, "what the model says"),
      known.classes.map((name, i) => el("option", { value: String(i), selected: i === chosen.target }, name)),
    );
    const dataset = room.models.find((one) => one.name === known.model)?.dataset;
    this.preset = room.presets[dataset] ?? {};
    this.fields = Object.entries(room.ranges).map(([name, [low, high]]) =>
      el("input", {
        type: "number",
        id: `set-${name}`,
        "data-name": name,
        min: String(low),
        max: String(high),
        step: "any",
        placeholder: name in this.preset ? String(this.preset[name]) : "default",
        value: chosen.settings?.[name] === undefined ? "" : String(chosen.settings[name]),
      }),
    );
    this.button = el("button", { type: "submit", class: "primary" }, "Explain");
    this.halt = el("button", { type: "button", onclick: heard.stop, hidden: true }, "Stop");
    this.bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
    this.stage = el("p", { class: "note", role: "status" });
    this.state = el("div", { class: "progress", hidden: true }, this.bar, this.stage);
    this.fault = el("p", { class: "fault", role: "alert", hidden: true });
    this.form = el(
      "form",
      {
        class: "explain",
        onsubmit: (event) => {
          event.preventDefault();
          heard.run(this.wanted());
        },
      },
      el("div", { class: "field" }, el("label", { for: "model" }, "Model"), model),
      el("div", { class: "field" }, el("label", { for: "target" }, "Explain the class"), this.target),
      this.explainers(),
      el(
        "details",
        {},
        el("summary", {}, "Settings of SSplain"),
        el("p", { class: "note" }, Object.keys(this.preset).length ? `Empty fields take the paper's settings for ${dataset}.` : "Empty fields take the defaults."),
        this.fields.map((field) => el("div", { class: "field" }, el("label", { for: field.id }, LABELS[field.dataset.name]), field)),
      ),
      el("p", { class: "buttons" }, this.button, this.halt),
      this.state,
      this.fault,
    );
    this.count();
  }

  explainers() {
    const groups = Object.entries(FAMILIES).map(([family, title]) => {
      const items = this.room.explainers
        .map((one, at) => [one, this.boxes[at]])
        .filter(([one]) => one.family === family)
        .map(([one, box]) => el("label", { class: "tick", title: one.reference }, box, ` ${one.title}`));
      return el("fieldset", {}, el("legend", {}, title), items);
    });
    const [first, ...others] = groups;
    const open = this.boxes.some((box, at) => box.checked && this.room.explainers[at].family !== "ssplain");
    return el("div", {}, first, el("details", { open }, el("summary", {}, "Compare with others"), others));
  }

  count() {
    const chosen = this.boxes.filter((box) => box.checked).length;
    this.button.disabled = chosen === 0;
    for (const box of this.boxes) box.disabled = !box.checked && chosen >= MOST;
  }

  wanted() {
    const settings = {};
    for (const field of this.fields) if (field.value !== "") settings[field.dataset.name] = Number(field.value);
    return {
      explainers: this.boxes.filter((box) => box.checked).map((box) => box.value),
      target: this.target.value === "" ? null : Number(this.target.value),
      settings,
    };
  }

  /** Show how far a run is. */
  watch({ state, stage, done, position, message }) {
    const busy = state === "waiting" || state === "running";
    this.button.hidden = busy;
    this.halt.hidden = !busy;
    this.state.hidden = !busy;
    this.bar.value = done;
    this.stage.textContent = state === "waiting" ? `Waiting: ${position} before this one` : `${stage} · ${percent(done)}`;
    this.complain(state === "failed" ? message : state === "stopped" ? "Stopped; what was done by then is shown." : "");
  }

  complain(message) {
    this.fault.textContent = message;
    this.fault.hidden = !message;
  }
}
