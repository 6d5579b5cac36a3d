// Panes that show one image in several ways and move together.
import { el, perFrame } from "./dom.js";
import { coloured, marked, plain } from "./paint.js";

const MOST_ZOOM = 40;

/** The common state of all panes: where we look, and with which tool. */
export class Viewer {
  /**
   * @param home where the panes go
   * @param picture the image
   * @param tables colours by name
   * @param heard functions: hover(x, y) or hover(null), picked(x, y), stroke(), curtain(share)
   */
  constructor(home, picture, tables, heard) {
    Object.assign(this, { home, picture, tables, heard });
    home.style.setProperty("--aspect", picture.width / picture.height);
    this.panes = [];
    this.how = null;
    this.tool = "move";
    this.brush = Math.max(2, Math.round(picture.width / 24));
    this.zoom = 1;
    this.centre = { x: picture.width / 2, y: picture.height / 2 };
    this.region = new Uint8Array(picture.width * picture.height);
    this.lines = null; // quadrants: {x, y}
    this.disc = null; // row, column, radius
    this.truth = null;
    this.ring = null;
    this.redraw = perFrame(() => this.panes.forEach((pane) => pane.draw()));
    this.recolour = perFrame(() => {
      this.panes.forEach((pane) => pane.colour());
      this.panes.forEach((pane) => pane.draw());
    });
    this.watching = new ResizeObserver(() => this.redraw());
    this.base = surface(plain(picture));
    this.selected = null;
    this.planted = null;
  }

  /** Add a view of a map, of the image, or of another picture of the same size. */
  add(title, layer, other = null) {
    const pane = new Pane(this, title, layer, other && surface(other));
    this.panes.push(pane);
    this.home.append(pane.figure);
    this.watching.observe(pane.canvas);
    this.home.dataset.count = this.panes.length;
    if (this.how) pane.colour();
    this.redraw();
    return pane;
  }

  clear() {
    for (const pane of this.panes) {
      this.watching.unobserve(pane.canvas);
      pane.figure.remove();
    }
    this.panes = [];
  }

  show(how) {
    const before = this.how;
    this.how = { ...how };
    const same = before && ["mode", "share", "opacity", "colours"].every((k) => before[k] === how[k]);
    if (same) this.redraw();
    else this.recolour();
  }

  mark(region) {
    this.region = region;
    this.selected = region.some((one) => one) ? surface(marked(this.picture, region, [255, 255, 255], 110)) : null;
    this.redraw();
  }

  plant(truth) {
    const colour = this.how?.colours === "inferno" ? [64, 210, 255] : [255, 80, 170];
    this.truth = truth;
    this.planted = truth ? surface(marked(this.picture, truth, colour, 0)) : null;
    this.redraw();
  }

  /** Zoom by a factor about a point of the image. */
  zoomBy(factor, about = this.centre) {
    const next = Math.min(MOST_ZOOM, Math.max(1, this.zoom * factor));
    const change = this.zoom / next;
    this.centre = {
      x: about.x + (this.centre.x - about.x) * change,
      y: about.y + (this.centre.y - about.y) * change,
    };
    this.zoom = next;
    this.hold();
  }

  moveBy(x, y) {
    this.centre = { x: this.centre.x + x, y: this.centre.y + y };
    this.hold();
  }

  whole() {
    this.zoom = 1;
    this.hold();
  }

  /** Keep the image in sight. */
  hold() {
    const { width, height } = this.picture;
    const x = width / 2 / this.zoom;
    const y = height / 2 / this.zoom;
    this.centre.x = Math.min(width - x, Math.max(x, this.centre.x));
    this.centre.y = Math.min(height - y, Math.max(y, this.centre.y));
    this.redraw();
  }

  /** Put paint on the region, or take it off, along a line. */
  brushAt(from, to, on) {
    const { width, height } = this.picture;
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y)));
    const radius = this.brush / 2;
    for (let step = 0; step <= steps; step++) {
      const x = from.x + ((to.x - from.x) * step) / steps;
      const y = from.y + ((to.y - from.y) * step) / steps;
      for (let row = Math.floor(y - radius); row <= y + radius; row++) {
        for (let column = Math.floor(x - radius); column <= x + radius; column++) {
          if (row < 0 || column < 0 || row >= height || column >= width) continue;
          if (Math.hypot(column + 0.5 - x, row + 0.5 - y) > radius + 0.25) continue;
          this.region[row * width + column] = on ? 1 : 0;
        }
      }
    }
    this.mark(this.region);
  }
}

/** One view: a canvas with a caption. */
class Pane {
  constructor(viewer, title, layer, other) {
    Object.assign(this, { viewer, title, layer, other });
    this.canvas = el("canvas", { tabindex: "0", role: "img", "aria-label": title });
    this.note = el("span", { class: "chip", hidden: true });
    this.figure = el(
      "figure",
      { class: "pane" },
      el("div", { class: "stage" }, this.canvas),
      el("figcaption", {}, el("b", {}, title), " ", this.note),
    );
    this.surface = null;
    this.pointers = new Map();
    this.listen();
  }

  /** Say beside the title how good the map is. */
  judge(text, kind) {
    this.note.textContent = text;
    this.note.className = `chip ${kind}`;
    this.note.hidden = !text;
  }

  colour() {
    const { picture, how, tables } = this.viewer;
    this.surface = this.layer ? surface(coloured(picture, this.layer, how, tables[how.colours])) : (this.other ?? this.viewer.base);
  }

  /** Pixels of the screen per pixel of the image, and where the image begins. */
  frame() {
    const { picture, zoom, centre } = this.viewer;
    const { width, height } = this.canvas;
    const scale = Math.min(width / picture.width, height / picture.height) * zoom;
    return { scale, left: width / 2 - centre.x * scale, top: height / 2 - centre.y * scale };
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d");
    const { picture, how, base, selected, planted, lines, ring } = this.viewer;
    const { scale, left, top } = this.frame();
    context.imageSmoothingEnabled = false;
    context.fillStyle = "#000";
    context.fillRect(0, 0, width, height);
    const put = (drawn) => context.drawImage(drawn, left, top, picture.width * scale, picture.height * scale);
    put(this.surface || base);
    if (how?.curtain !== null && how?.curtain !== undefined && this.layer) this.drawCurtain(context, put, how.curtain);
    if (planted) put(planted);
    if (selected) put(selected);
    if (lines) this.drawLines(context, lines);
    if (lines && this.viewer.disc) this.drawDisc(context, this.viewer.disc);
    if (ring) this.drawRing(context, ring);
  }

  drawCurtain(context, put, share) {
    const { width, height } = this.canvas;
    const at = Math.round(share * width);
    context.save();
    context.beginPath();
    context.rect(0, 0, at, height);
    context.clip();
    context.fillRect(0, 0, at, height);
    put(this.viewer.base);
    context.restore();
    context.fillStyle = "#fff";
    context.fillRect(at - 1, 0, 2, height);
    context.beginPath();
    context.arc(at, height / 2, 9, 0, 7);
    context.fill();
  }

  drawLines(context, { x, y }) {
    const { scale, left, top } = this.frame();
    context.save();
    context.strokeStyle = "rgba(255,255,255,.75)";
    context.setLineDash([6, 6]);
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(left + x * scale, 0);
    context.lineTo(left + x * scale, this.canvas.height);
    context.moveTo(0, top + y * scale);
    context.lineTo(this.canvas.width, top + y * scale);
    context.stroke();
    context.restore();
  }

  drawDisc(context, [row, column, radius]) {
    const { scale, left, top } = this.frame();
    context.beginPath();
    context.arc(left + (column + 0.5) * scale, top + (row + 0.5) * scale, radius * scale, 0, 7);
    context.lineWidth = 2;
    context.strokeStyle = "#78dcff";
    context.stroke();
  }

  drawRing(context, { x, y }) {
    const { scale, left, top } = this.frame();
    const painting = ["paint", "erase"].includes(this.viewer.tool);
    const radius = painting ? (this.viewer.brush / 2) * scale : Math.max(6, 0.7 * scale);
    context.beginPath();
    context.arc(left + (x + 0.5) * scale, top + (y + 0.5) * scale, radius, 0, 7);
    context.lineWidth = 3;
    context.strokeStyle = "rgba(0,0,0,.6)";
    context.stroke();
    context.lineWidth = 1.5;
    context.strokeStyle = "#fff";
    context.stroke();
  }

  /** The point of the image under the pointer. */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const ratio = this.canvas.width / box.width;
    const { scale, left, top } = this.frame();
    return {
      x: ((event.clientX - box.left) * ratio - left) / scale,
      y: ((event.clientY - box.top) * ratio - top) / scale,
      share: (event.clientX - box.left) / box.width,
    };
  }

  listen() {
    const { canvas, viewer } = this;
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        viewer.zoomBy(Math.exp(-event.deltaY / 400), this.point(event));
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", () => viewer.tool === "move" && viewer.whole());
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => {
      viewer.ring = null;
      viewer.heard.hover(null);
      viewer.redraw();
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const step = this.viewer.picture.width / 10 / this.viewer.zoom;
    const ways = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (!(event.key in ways) || this.viewer.zoom === 1) return;
    event.preventDefault();
    this.viewer.moveBy(...ways[event.key]);
  }

  down(event) {
    const { viewer } = this;
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.point(event);
    const curtain = viewer.how?.curtain;
    this.dragging = curtain !== null && curtain !== undefined && Math.abs(at.share - curtain) < 0.04;
    this.moves = 0;
    this.pointers.set(event.pointerId, { at, x: event.clientX, y: event.clientY });
    if (["paint", "erase"].includes(viewer.tool) && !this.dragging) viewer.brushAt(at, at, viewer.tool === "paint");
  }

  moved(event) {
    const { viewer } = this;
    const at = this.point(event);
    viewer.ring = { x: Math.floor(at.x), y: Math.floor(at.y) };
    viewer.heard.hover(viewer.ring, event, this);
    const before = this.pointers.get(event.pointerId);
    if (before) this.drag(event, before, at);
    viewer.redraw();
  }

  drag(event, before, at) {
    const { viewer } = this;
    this.moves += Math.abs(event.clientX - before.x) + Math.abs(event.clientY - before.y);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, one]) => one);
    if (this.dragging) viewer.heard.curtain(Math.min(1, Math.max(0, at.share)));
    else if (others.length) {
      const [other] = others;
      const apart = (one) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
      viewer.zoomBy(apart({ x: event.clientX, y: event.clientY }) / apart(before), at);
    } else if (["paint", "erase"].includes(viewer.tool)) viewer.brushAt(before.at, at, viewer.tool === "paint");
    else viewer.moveBy(before.at.x - at.x, before.at.y - at.y);
    this.pointers.set(event.pointerId, { at: this.point(event), x: event.clientX, y: event.clientY });
  }

  up(event) {
    const { viewer } = this;
    if (!this.pointers.delete(event.pointerId) || this.dragging) return;
    const at = this.point(event);
    if (["paint", "erase"].includes(viewer.tool)) viewer.heard.stroke();
    else if (viewer.tool === "pick" && this.moves < 6) viewer.heard.picked(Math.floor(at.x), Math.floor(at.y));
  }
}

/** ImageData as something that can be drawn at any size. */
function surface(data) {
  const canvas = new OffscreenCanvas(data.width, data.height);
  canvas.getContext("2d").putImageData(data, 0, 0);
  return canvas;
}
