// What can be taken home.
import { el } from "./dom.js";

const NAMES = { "eye.html": "Page of this eye (HTML)", "reading.json": "All numbers of the reading (JSON)" };

/** What a file is called; DICOM files are numbered as the maps are. */
function called(name, maps) {
  const [, kind, at] = /^(overlay|map)(?:-(\d+))?\.dcm$/.exec(name) ?? [];
  if (!kind) return NAMES[name] ?? name;
  const map = maps.find((one) => one.file === Number(at ?? 0));
  return `${map?.title ?? "Map"}: ${kind === "overlay" ? "overlay (DICOM)" : "scores (DICOM parametric map)"}`;
}

/**
 * The list of files.
 * @param base address of the result
 * @param files names of further files that it has
 * @param maps of the result
 * @param panes the views
 */
export function downloads(base, files, maps, panes) {
  const file = (path, text) => el("li", {}, el("a", { href: `${base}/${path}`, download: true }, text));
  const picture = el("button", { type: "button", class: "link", onclick: () => savePicture(panes()) }, "Picture of the views (PNG)");
  return el(
    "ul",
    { class: "plain" },
    file("report.html", "Report in one file (HTML, opens without the room)"),
    el("li", {}, picture),
    file("maps.npz", "Arrays (NumPy npz)"),
    file("table.csv", "Checks (CSV)"),
    files.map((name) => file(`files/${name}`, called(name, maps))),
  );
}

/** All views side by side, as they are on the screen. */
function savePicture(panes) {
  const gap = 8;
  const line = 22;
  const width = panes.reduce((sum, { canvas }) => sum + canvas.width + gap, -gap);
  const height = Math.max(...panes.map(({ canvas }) => canvas.height)) + line;
  const sheet = el("canvas", { width, height });
  const context = sheet.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.fillStyle = "#000";
  context.font = "15px system-ui, sans-serif";
  let left = 0;
  for (const pane of panes) {
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
