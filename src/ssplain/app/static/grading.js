// A reader's own grade of the image that is shown.
import { get, post } from "./api.js";
import { el, say } from "./dom.js";
import { reader, readerFields } from "./reader.js";

/**
 * The form.
 * @param image its name
 * @param given called with a sentence when a grade has been kept
 *
 * `unseen` says whether decision and map are hidden still: the grade is kept as a blind one then.
 */
export class Grading {
  constructor(image, given) {
    Object.assign(this, { image, given, unseen: false });
    this.choices = el("fieldset", {}, el("legend", {}, "My grade"));
    this.note = el("textarea", { id: "note", rows: "2", maxlength: "2000" });
    this.button = el("button", { type: "submit" }, "Keep my grade");
    this.fault = el("p", { class: "fault", role: "alert", hidden: true });
    this.state = el("p", { class: "note", role: "status" });
    this.form = el(
      "form",
      { class: "grading", onsubmit: (event) => this.keep(event) },
      el("div", { class: "controls" }, readerFields(() => this.load())[0]),
      this.choices,
      el("label", { for: "note" }, "Note"),
      this.note,
      el("div", { class: "buttons" }, this.button),
      this.fault,
      this.state,
    );
  }

  async load() {
    const known = await get("/api/grades", { image: this.image, reader: reader() });
    this.choices.replaceChildren(
      this.choices.firstChild,
      ...known.choices.map((name) =>
        el("label", { class: "tick" }, el("input", { type: "radio", name: "grade", value: name, checked: name === known.grade }), ` ${name}`),
      ),
    );
    this.note.value = known.note;
    this.state.textContent = known.grade ? `You called it ${known.grade}${known.blind ? ", before you saw the decision" : ""}.` : "";
    return known;
  }

  async keep(event) {
    event.preventDefault();
    this.fault.hidden = true;
    const chosen = this.choices.querySelector("input:checked");
    try {
      if (!chosen) throw new Error("Choose a grade first.");
      const body = { image: this.image, reader: reader(), grade: chosen.value, note: this.note.value, blind: this.unseen };
      const kept = await post("/api/grades", body);
      this.state.textContent = `Kept: ${kept.grade}${kept.blind ? ", given before the decision was shown" : ""}.`;
      this.given(this.state.textContent);
    } catch (error) {
      this.fault.textContent = error.message;
      this.fault.hidden = false;
      say(error.message, true);
    }
  }

  focus() {
    (this.choices.querySelector("input:checked") ?? this.choices.querySelector("input"))?.focus();
  }
}
