// One image: what the model says, the maps, how good they are, and what-if.
import { bytes, get, post } from "./api.js";
import { Controls } from "./controls.js";
import { el, percent, say } from "./dom.js";
import { ExplainForm } from "./explainform.js";
import { Grading } from "./grading.js";
import { answered, branchTable, course, decision, quality } from "./facts.js";
import { Layer, Picture, START, packed, pixels } from "./paint.js";
import { blind, neighbours } from "./reader.js";
import { Viewer } from "./viewer.js";

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
  const [pixelBytes, labels, truth] = await Promise.all([
    bytes("/api/pixels", values),
    known.branches.length ? bytes("/api/branches", values) : null,
    known.truth ? bytes("/api/truth", { image: known.image }) : null,
  ]);
  const page = new Workspace(room, go, known, new Picture(pixelBytes, known.size), labels && new Uint16Array(labels), truth && new Uint8Array(truth));
  await page.prepare();
  return page.shown(watched);
}

/** The model cannot take this image: say why and offer the others. */
function unfit(room, go, asked, error) {
  const model = el(
    "select",
    { id: "model", onchange: () => go(`/image/${asked.image}?model=${encodeURIComponent(model.value)}`) },
    el("option", { value: "" }, "choose …"),
    room.models.map((one) => el("option", { value: one.name }, one.name)),
  );
  return {
    title: "Image",
    nodes: [
      el("h1", {}, "This image does not fit"),
      el("p", { class: "fault", role: "alert" }, error.message),
      el("div", { class: "field" }, el("label", { for: "model" }, "Try another model"), model),
      el("p", {}, el("a", { href: "/", "data-go": true }, "Choose another image")),
    ],
  };
}

class Workspace {
  constructor(room, go, known, picture, labels, truth) {
    Object.assign(this, { room, go, known, picture, labels, truth });
    this.how = { ...START };
    this.before = "overlay"; // the view to which M comes back
    this.result = null;
    this.run = null;
    this.gone = false;
    this.branches = new Set();
    this.asking = 0;
    this.stage = el("div", { class: "panes" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.side = Object.fromEntries(
      ["decision", "checks", "whatif", "branches", "course", "quadrants", "downloads"].map((name) => [name, el("div")]),
    );
    this.viewer = new Viewer(this.stage, picture, room.colours, {
      hover: (at, event) => this.hover(at, event),
      picked: (x, y) => this.pick(this.labels?.[y * picture.width + x]),
      stroke: () => this.ask({ mask: packed(this.viewer.region) }),
      curtain: (curtain) => this.show({ curtain }),
    });
    this.controls = new Controls(
      { picture, tables: room.colours, how: this.how, vessels: Boolean(labels), truth: Boolean(truth) },
      {
        show: (changes) => this.show(changes),
        tool: (tool) => this.tool(tool),
        brush: (size) => {
          this.viewer.brush = size;
          this.tool("paint");
        },
        clear: () => this.clear(),
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
    const chosen = watched?.result ?? { explainers: [this.room.explainers[0].name] };
    this.form = new ExplainForm(this.room, this.known, watched?.wanted ?? chosen, {
      run: (wanted) => this.start(wanted),
      stop: () => post(`/api/runs/${this.run}/stop`).catch((error) => say(error.message, true)),
      model: (model) => this.go(`/image/${this.known.image}?model=${encodeURIComponent(model)}`),
    });
    this.viewer.add("Image", null);
    this.viewer.show(this.how);
    this.side.decision.replaceChildren(...decision(this.known));
    this.hint();
    this.listBranches();
    if (watched) this.follow(watched.run);
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
        part("Explain", this.form.form),
        part("What if?", side.whatif),
        part("How good is the map?", side.checks),
        this.labels ? part("Branches", side.branches, false) : null,
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
    this.side.whatif.replaceChildren(
      el("p", { class: "note" }, this.labels ? "Pick a branch (K) or paint an area (P) on the image: what would the model say without it, and with only it?" : "Paint an area (P) on the image: what would the model say without it, and with only it?"),
    );
  }

  // --- maps ------------------------------------------------------------------------------------
  async start(wanted) {
    try {
      const { run } = await post("/api/runs", { image: this.known.image, model: this.known.model, ...wanted });
      this.viewer.clear();
      this.viewer.add("Image", null);
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
      if (watched.result) await this.take(watched.result);
      if (!["waiting", "running"].includes(watched.state)) return;
      await pause(150);
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
      const layer = new Layer(await bytes(`/api/runs/${this.run}/maps/${one.file}`), this.picture.red.length);
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
    side.decision.replaceChildren(...decision({ ...this.known, ...result, label: this.known.label }));
    side.checks.replaceChildren(...result.maps.map((one) => quality(one, className)));
    const courses = result.maps.map(course).filter(Boolean);
    if (courses.length) side.course.replaceChildren(...courses);
    else side.course.replaceChildren(el("p", { class: "note" }, "These explainers do not iterate."));
    for (const pane of viewer.panes) {
      const one = result.maps.find((map) => map.name === pane.name);
      if (one?.checks) pane.judge(one.checks.complaints.length ? "do not rely on this map" : "checks passed", one.checks.complaints.length ? "refuse" : "pass");
    }
    this.listDownloads();
    this.listQuadrants();
  }

  listDownloads() {
    const file = (name, text) => el("li", {}, el("a", { href: `/api/runs/${this.run}/${name}`, download: true }, text));
    const picture = el("button", { type: "button", class: "link", onclick: () => this.savePicture() }, "Picture of the views (PNG)");
    this.side.downloads.replaceChildren(
      el("ul", { class: "plain" }, el("li", {}, picture), file("maps.npz", "Arrays (NumPy npz)"), file("table.csv", "Checks (CSV)")),
    );
  }

  /** All views side by side, as they are on the screen. */
  savePicture() {
    const gap = 8;
    const shown = this.viewer.panes.map((pane) => pane.canvas);
    const line = 22;
    const width = shown.reduce((sum, one) => sum + one.width + gap, -gap);
    const height = Math.max(...shown.map((one) => one.height)) + line;
    const sheet = el("canvas", { width, height });
    const context = sheet.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.fillStyle = "#000";
    context.font = "15px system-ui, sans-serif";
    let left = 0;
    for (const pane of this.viewer.panes) {
      context.fillText(pane.title, left, 16);
      context.drawImage(pane.canvas, left, line);
      left += pane.canvas.width + gap;
    }
    sheet.toBlob((blob) => {
      const link = el("a", { href: URL.createObjectURL(blob), download: "ssplain-views.png" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    });
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
      this.viewer.lines = on ? { x: this.picture.width / 2, y: this.picture.height / 2 } : null;
      this.viewer.redraw();
      this.listQuadrants();
    }
  }

  /** How much of what is shown lies in each quadrant, and how bent the vessels are there. */
  listQuadrants() {
    const home = this.side.quadrants;
    if (!this.viewer.lines) return home.replaceChildren();
    const { x, y } = this.viewer.lines;
    const { width } = this.picture;
    const names = ["upper left", "upper right", "lower left", "lower right"];
    const where = (column, row) => (row >= y ? 2 : 0) + (column >= x ? 1 : 0);
    const bends = names.map((_, q) => this.known.branches.filter((b) => where(b.column, b.row) === q && b.tortuosity !== null));
    const most = pixels(this.picture, this.how.share);
    const counts = this.viewer.panes.filter((pane) => pane.layer).map((pane) => {
      const found = [0, 0, 0, 0];
      for (let i = 0; i < pane.layer.rank.length; i++)
        if (this.picture.inside[i] && pane.layer.rank[i] < most) found[where(i % width, Math.floor(i / width))]++;
      return { title: pane.title, shares: found.map((n) => n / Math.max(1, most)) };
    });
    const mean = (of, key) => (of.length ? of.reduce((sum, one) => sum + one[key] * one.length, 0) / of.reduce((sum, one) => sum + one.length, 0) : null);
    const cell = (value, shownAs) => el("td", { class: "number" }, value === null ? "–" : shownAs(value));
    home.replaceChildren(
      el(
        "table",
        { class: "numbers" },
        el("caption", {}, "Quadrants about the middle of the image"),
        el("thead", {}, el("tr", {}, el("td"), names.map((name) => el("th", { scope: "col" }, name)))),
        el(
          "tbody",
          {},
          counts.map(({ title, shares }) => el("tr", {}, el("th", { scope: "row" }, `Top pixels, ${title}`), shares.map((share) => cell(share, percent)))),
          el("tr", {}, el("th", { scope: "row" }, "Mean tortuosity, 1/px"), bends.map((of) => cell(mean(of, "tortuosity"), (v) => v.toFixed(4)))),
          el("tr", {}, el("th", { scope: "row" }, "Mean width, px"), bends.map((of) => cell(mean(of, "width"), (v) => v.toFixed(1)))),
        ),
      ),
    );
  }

  hover(at, event) {
    const { picture, tip } = this;
    const inside = at && at.x >= 0 && at.y >= 0 && at.x < picture.width && at.y < picture.height;
    tip.hidden = true;
    if (!inside) return;
    const i = at.y * picture.width + at.x;
    const lines = [];
    const branch = this.labels?.[i] && this.known.branches.find((one) => one.label === this.labels[i]);
    if (branch) {
      lines.push(`Branch ${branch.label}: ${branch.width?.toFixed(1) ?? "–"} px wide, tortuosity ${branch.tortuosity?.toFixed(4) ?? "–"}`);
      lines.push(`curvature ${branch.curvature?.toFixed(3) ?? "–"} 1/px, ${branch.length.toFixed(0)} px long`);
    }
    if (picture.inside[i])
      for (const pane of this.viewer.panes)
        if (pane.layer) lines.push(`${pane.title}: rank ${pane.layer.rank[i] + 1} of ${picture.count}`);
    if (!lines.length || !event) return;
    tip.replaceChildren(...lines.map((line) => el("div", {}, line)));
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 16, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8)}px`;
  }

  // --- what if ---------------------------------------------------------------------------------
  tool(name) {
    if (!this.controls.setTool(name)) return;
    this.viewer.tool = name;
    this.stage.dataset.tool = name;
  }

  pick(label) {
    if (!label) return;
    if (!this.branches.delete(label)) this.branches.add(label);
    this.viewer.mark(this.labels.map((one) => (this.branches.has(one) ? 1 : 0)));
    this.listBranches();
    if (this.branches.size) this.ask({ branches: [...this.branches] });
    else this.clear();
  }

  clear() {
    this.asking++;
    this.branches.clear();
    this.viewer.mark(new Uint8Array(this.picture.red.length));
    this.hintOnly();
    this.listBranches();
  }

  hintOnly() {
    const kept = [this.side.checks, this.side.course, this.side.downloads].map((one) => [...one.childNodes]);
    this.hint();
    [this.side.checks, this.side.course, this.side.downloads].forEach((one, i) => one.replaceChildren(...kept[i]));
  }

  async ask(part) {
    const turn = ++this.asking;
    if (part.mask) this.branches.clear();
    try {
      const answer = await post("/api/ask", { image: this.known.image, model: this.known.model, ...part });
      if (turn !== this.asking) return; // something else was asked meanwhile
      const winner = answer.whole.indexOf(Math.max(...answer.whole));
      const target = this.result?.target ?? winner;
      this.side.whatif.replaceChildren(...answered(answer, this.known.classes, target));
    } catch (error) {
      if (turn === this.asking) this.side.whatif.replaceChildren(el("p", { class: "note" }, error.message));
    }
  }

  listBranches() {
    if (!this.labels) return;
    const point = (label) => {
      const chosen = this.branches;
      this.viewer.mark(this.labels.map((one) => (one && (one === label || chosen.has(one)) ? 1 : 0)));
    };
    const place = this.side.branches.querySelector(".scroll")?.scrollTop ?? 0;
    this.side.branches.replaceChildren(branchTable(this.known.branches, this.branches, (label) => this.pick(label), point));
    this.side.branches.querySelector(".scroll").scrollTop = place;
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
