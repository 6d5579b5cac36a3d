// One image: what the model says, the maps, how good they are, and what-if.
import { bytes, get, post } from "./api.js";
import { Controls } from "./controls.js";
import { downloads } from "./downloads.js";
import { el, say } from "./dom.js";
import { ExplainForm } from "./explainform.js";
import { Grading } from "./grading.js";
import { course, decision, pointed, quality } from "./facts.js";
import { Layer, Picture, START, grey } from "./paint.js";
import { EXPLAINER, eyeFacts, unread } from "./photograph.js";
import { cross, quadrantTable } from "./quadrants.js";
import { blind, neighbours } from "./reader.js";
import { unfit } from "./unfit.js";
import { Viewer } from "./viewer.js";
import { WhatIf } from "./whatif.js";

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Show an image, or a run that has an address. */
export async function workspace(room, go, { image, run }) {
  const parameters = new URLSearchParams(location.search);
  let watched = null;
  if (run) watched = await get(`/api/runs/${run}`);
  const asked = { image: image ?? watched.image, model: watched?.model ?? parameters.get("model") ?? "" };
  let known;
  try {
    known = await get("/api/look", asked);
  } catch (error) {
    return unfit(room, go, asked, error);
  }
  const values = { image: known.image, model: known.model };
  const [pixelBytes, drawn, labels, truth] = await Promise.all([
    bytes("/api/pixels", values),
    known.drawn ? bytes("/api/drawn", values) : null,
    known.branches.length ? bytes("/api/branches", values) : null,
    known.truth ? bytes("/api/truth", { image: known.image }) : null,
  ]);
  const picture = new Picture(pixelBytes, known.size, drawn && new Uint8Array(drawn));
  if (known.unread) return unread(room, go, known, picture, watched);
  const page = new Workspace(room, go, known, picture, labels && new Uint16Array(labels), truth && new Uint8Array(truth));
  await page.prepare();
  return page.shown(watched);
}

class Workspace {
  constructor(room, go, known, picture, labels, truth) {
    Object.assign(this, { room, go, known, picture, labels, truth });
    this.how = { ...START };
    this.before = "overlay"; // the view to which M comes back
    this.result = null;
    this.run = null;
    this.base = ""; // address of the result that is shown
    this.files = [];
    this.eyeSide = known.reading?.eye ?? "";
    this.gone = false;
    this.stage = el("div", { class: "panes" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.side = Object.fromEntries(
      ["decision", "eye", "checks", "course", "quadrants", "downloads"].map((name) => [name, el("div")]),
    );
    this.viewer = new Viewer(this.stage, picture, room.colours, {
      hover: (at, event) => this.hover(at, event),
      picked: (x, y) => this.whatif.pick(this.labels?.[y * picture.width + x]),
      stroke: () => this.whatif.painted(),
      curtain: (curtain) => this.show({ curtain }),
    });
    this.whatif = new WhatIf(known, this.viewer, labels);
    this.controls = new Controls(
      { picture, tables: room.colours, how: this.how, vessels: Boolean(labels), truth: Boolean(truth), drawn: known.photograph ? "vessel" : "drawn" },
      {
        show: (changes) => this.show(changes),
        tool: (tool) => this.tool(tool),
        brush: (size) => {
          this.viewer.brush = size;
          this.tool("paint");
        },
        clear: () => this.whatif.clear(),
        layer: (name, on) => this.layer(name, on),
      },
    );
    this.controls.brush.value = this.viewer.brush;
  }

  /** A reader can grade what others will find again: not an upload, which is deleted. */
  async prepare() {
    this.hidden = false;
    if (this.known.image.startsWith("upload/")) return;
    this.grading = new Grading(this.known.image, (text) => this.graded(text));
    const opinion = await this.grading.load();
    this.hidden = this.grading.unseen = blind() && !opinion.grade;
  }

  /** The grade is given: from now on nothing is hidden. */
  graded(text) {
    say(text);
    if (this.hidden) this.go(location.pathname + location.search, true);
  }

  shown(watched) {
    const usual = this.known.reading ? EXPLAINER : this.room.explainers[0].name;
    const chosen = watched?.result ?? { explainers: [usual] };
    this.form = new ExplainForm(this.room, this.known, watched?.wanted ?? chosen, {
      run: (wanted) => this.start(wanted),
      stop: () => post(`/api/runs/${this.run}/stop`).catch((error) => say(error.message, true)),
      model: (model) => this.go(`/image/${this.known.image}?model=${encodeURIComponent(model)}`),
    });
    this.viewer.show(this.how);
    this.begin();
    this.side.decision.replaceChildren(...decision(this.known));
    this.hint();
    this.listEye();
    if (watched) this.follow(watched.run);
    else if (this.known.stored) this.stored();
    return {
      title: this.known.title,
      nodes: this.nodes(),
      leave: () => {
        this.gone = true;
        this.tip.remove();
        this.viewer.watching.disconnect();
      },
      keys: (event) => this.key(event),
    };
  }

  nodes() {
    const part = (title, content, open = true) => el("section", {}, el("details", { open }, el("summary", {}, el("h2", {}, title)), content));
    const { side } = this;
    this.neighbours = neighbours(this.known.image, this.room.sets);
    const step = (name, path) => (path ? el("a", { href: path, "data-go": true, class: "step" }, name) : null);
    const frame = el(
      "div",
      { class: this.hidden ? "workspace blind" : "workspace" },
      el("div", { class: "look" }, this.controls.top, this.stage, this.controls.middle, this.controls.bottom, side.quadrants),
      el(
        "div",
        { class: "side" },
        this.grading ? part("My grade", this.grading.form, this.hidden) : null,
        el("section", { class: "veil" }, el("p", { class: "note" }, "Blind reading: decision and maps are shown when your grade is kept.")),
        part("Decision", side.decision),
        this.known.reading ? part("The eye", side.eye) : null,
        part("Explain", this.form.form),
        part("What if?", this.whatif.answer),
        part("How good is the map?", side.checks),
        this.labels ? part("Branches", this.whatif.table, false) : null,
        part("Convergence", side.course, false),
        part("Download", side.downloads),
      ),
    );
    return [
      el("div", { class: "headline" }, el("h1", {}, this.known.title), step("‹ previous", this.neighbours.last), step("next ›", this.neighbours.next)),
      frame,
      this.tip,
    ];
  }

  hint() {
    this.side.checks.replaceChildren(el("p", { class: "note" }, "Comes with the map: whether the decision rests on it, whether it beats a random order, whether it stays under noise."));
    this.side.course.replaceChildren(el("p", { class: "note" }, "Comes with maps of explainers that iterate."));
    this.side.downloads.replaceChildren(el("p", { class: "note" }, "Comes with the first map."));
  }

  /** Lay out the views that come before any map. */
  begin() {
    this.viewer.clear();
    this.viewer.disc = this.known.reading?.disc ?? null;
    this.viewer.add(this.known.photograph ? "Photograph" : "Image", null);
    if (this.known.photograph) this.viewer.add("Vessels", null, grey(this.picture));
  }

  listEye() {
    if (!this.known.reading) return;
    this.side.eye.replaceChildren(
      ...eyeFacts(this.known.reading, this.eyeSide, (side) => {
        this.eyeSide = side;
        this.listEye();
        this.listQuadrants();
      }),
    );
  }

  // --- maps ------------------------------------------------------------------------------------
  async start(wanted) {
    try {
      const { run } = await post("/api/runs", { image: this.known.image, model: this.known.model, ...wanted });
      this.begin();
      this.result = null;
      history.pushState(null, "", `/result/${run}`);
      await this.follow(run);
    } catch (error) {
      this.form.complain(error.message);
      say(error.message, true);
    }
  }

  /** Watch a run until it ends, showing each map as it comes. */
  async follow(run) {
    this.run = run;
    this.base = `/api/runs/${run}`;
    this.files = [];
    while (!this.gone && this.run === run) {
      let watched;
      try {
        watched = await get(`/api/runs/${run}`);
      } catch (error) {
        this.form.complain(error.message);
        return;
      }
      if (this.gone || this.run !== run) return;
      this.form.watch(watched);
      this.files = watched.files;
      if (watched.result) await this.take(watched.result);
      if (!["waiting", "running"].includes(watched.state)) return;
      await pause(150);
    }
  }

  /** Show what a job has found; nothing is computed. */
  async stored() {
    this.base = `/api/job/${this.known.image.split("/")[1]}`;
    try {
      const { result, files } = await get(this.base);
      this.files = files;
      if (!this.gone) await this.take(result);
    } catch (error) {
      this.form.complain(error.message);
    }
  }

  /** Show what a run has found so far. */
  async take(result) {
    const had = this.result?.maps.length ?? 0;
    const checked = (of) => of?.maps.filter((one) => one.checks).length ?? 0;
    const changed = result.maps.length !== had || checked(result) !== checked(this.result);
    this.result = result;
    if (!changed && had) return;
    for (const one of result.maps.slice(had)) {
      if (one.file === undefined) continue;
      const layer = new Layer(await bytes(`${this.base}/maps/${one.file}`), this.picture.red.length);
      if (this.gone) return;
      const pane = this.viewer.add(one.title, layer);
      pane.name = one.name;
      if (!this.controls.any) {
        this.controls.mapped(true);
        this.show({});
      }
    }
    this.facts();
  }

  facts() {
    const { result, side, viewer } = this;
    const className = result.classes[result.target];
    this.whatif.target = result.target;
    side.decision.replaceChildren(...decision({ ...this.known, ...result, label: this.known.label }));
    side.checks.replaceChildren(...result.maps.map((one) => quality(one, className, this.run ? undefined : "The job made no checks of this map; Explain makes them here.")));
    const courses = result.maps.map(course).filter(Boolean);
    if (courses.length) side.course.replaceChildren(...courses);
    else side.course.replaceChildren(el("p", { class: "note" }, "These explainers do not iterate."));
    for (const pane of viewer.panes) {
      const one = result.maps.find((map) => map.name === pane.name);
      if (one?.checks) pane.judge(one.checks.complaints.length ? "do not rely on this map" : one.checks.order === null ? "one check passed" : "checks passed", one.checks.complaints.length ? "refuse" : "pass");
    }
    side.downloads.replaceChildren(downloads(this.base, this.files, this.result.maps, () => this.viewer.panes));
    this.listQuadrants();
  }

  // --- views -----------------------------------------------------------------------------------
  show(changes) {
    if (changes.mode && changes.mode !== "image") this.before = changes.mode;
    this.how = { ...this.how, ...changes };
    this.controls.update(this.how);
    this.viewer.show(this.how);
    if (changes.colours) this.viewer.plant(this.viewer.truth);
    if (changes.share !== undefined) this.listQuadrants();
  }

  layer(name, on) {
    if (name === "truth") this.viewer.plant(on ? this.truth.map((value) => (value ? 1 : 0)) : null);
    if (name === "quadrants") {
      this.viewer.lines = on ? cross(this.picture, this.known.reading) : null;
      this.viewer.redraw();
      this.listQuadrants();
    }
  }

  listQuadrants() {
    const home = this.side.quadrants;
    if (!this.viewer.lines) return home.replaceChildren();
    const { branches, reading } = this.known;
    const { lines, panes } = this.viewer;
    home.replaceChildren(quadrantTable({ picture: this.picture, lines, branches, panes, share: this.how.share, reading, side: this.eyeSide }));
  }

  hover(at, event) {
    const { picture, tip } = this;
    const inside = at && at.x >= 0 && at.y >= 0 && at.x < picture.width && at.y < picture.height;
    tip.hidden = true;
    if (!inside) return;
    const i = at.y * picture.width + at.x;
    const branch = this.labels?.[i] && this.known.branches.find((one) => one.label === this.labels[i]);
    const lines = pointed(branch, picture.inside[i] ? this.viewer.panes : [], i, picture.count);
    if (!lines.length || !event) return;
    tip.replaceChildren(...lines.map((line) => el("div", {}, line)));
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 16, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8)}px`;
  }

  tool(name) {
    if (!this.controls.setTool(name)) return;
    this.viewer.tool = name;
    this.stage.dataset.tool = name;
  }

  grade() {
    if (!this.grading) return;
    this.grading.form.closest("details").open = true;
    this.grading.focus();
  }

  // --- keys ------------------------------------------------------------------------------------
  key(event) {
    const modes = ["overlay", "map", "top", "image"];
    const tools = { v: "move", k: "pick", p: "paint", e: "erase" };
    const key = event.key.toLowerCase();
    if (event.target.matches?.("input[type=range]") && key.startsWith("arrow")) return false;
    const any = this.controls.any && !this.hidden;
    const actions = {
      m: () => any && this.show({ mode: this.how.mode === "image" ? this.before : "image" }),
      b: () => any && this.show({ curtain: this.how.curtain === null ? 0.5 : null }),
      "[": () => this.show({ share: Math.max(0.0025, this.how.share * 0.8) }),
      "]": () => this.show({ share: Math.min(1, this.how.share * 1.25) }),
      "+": () => this.viewer.zoomBy(1.4),
      "=": () => this.viewer.zoomBy(1.4),
      "-": () => this.viewer.zoomBy(1 / 1.4),
      0: () => this.viewer.whole(),
      n: () => this.neighbours.next && this.go(this.neighbours.next),
      l: () => this.neighbours.last && this.go(this.neighbours.last),
      g: () => this.grade(),
    };
    if (key in actions) actions[key]();
    else if (key in tools) this.tool(tools[key]);
    else if (any && modes[Number(key) - 1]) this.show({ mode: modes[Number(key) - 1] });
    else return false;
    return true;
  }
}
