// What would the model say without this part? Branches are picked, areas painted.
import { post } from "./api.js";
import { el } from "./dom.js";
import { answered, branchTable } from "./facts.js";
import { packed } from "./paint.js";

/**
 * Questions about parts of an image.
 * @param known the image, its model, classes and branches
 * @param viewer the views
 * @param labels which branch each pixel belongs to; null without vessels
 *
 * `answer` is where answers stand, `table` where the branches are listed; `target` is the class that maps explain.
 */
export class WhatIf {
  constructor(known, viewer, labels) {
    Object.assign(this, { known, viewer, labels, target: null });
    this.branches = new Set();
    this.turn = 0;
    this.answer = el("div");
    this.table = el("div");
    this.hint();
    this.list();
  }

  hint() {
    const how = this.labels ? "Pick a branch (K) or paint an area (P)" : "Paint an area (P)";
    this.answer.replaceChildren(el("p", { class: "note" }, `${how} on the image: what would the model say without it, and with only it?`));
  }

  pick(label) {
    if (!label) return;
    if (!this.branches.delete(label)) this.branches.add(label);
    this.viewer.mark(this.labels.map((one) => (this.branches.has(one) ? 1 : 0)));
    this.list();
    if (this.branches.size) this.ask({ branches: [...this.branches] });
    else this.clear();
  }

  painted() {
    this.branches.clear();
    this.ask({ mask: packed(this.viewer.region) });
  }

  clear() {
    this.turn++;
    this.branches.clear();
    this.viewer.mark(new Uint8Array(this.viewer.region.length));
    this.hint();
    this.list();
  }

  async ask(part) {
    const turn = ++this.turn;
    try {
      const answer = await post("/api/ask", { image: this.known.image, model: this.known.model, ...part });
      if (turn !== this.turn) return; // something else was asked meanwhile
      const winner = answer.whole.indexOf(Math.max(...answer.whole));
      this.answer.replaceChildren(...answered(answer, this.known.classes, this.target ?? winner));
    } catch (error) {
      if (turn === this.turn) this.answer.replaceChildren(el("p", { class: "note" }, error.message));
    }
  }

  list() {
    if (!this.labels) return;
    const point = (label) => {
      this.viewer.mark(this.labels.map((one) => (one && (one === label || this.branches.has(one)) ? 1 : 0)));
    };
    const place = this.table.querySelector(".scroll")?.scrollTop ?? 0;
    this.table.replaceChildren(branchTable(this.known.branches, this.branches, (label) => this.pick(label), point));
    this.table.querySelector(".scroll").scrollTop = place;
  }
}
