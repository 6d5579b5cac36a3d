// The first page: drop an image, or choose one.
import { get, send, thumb } from "./api.js";
import { el, say } from "./dom.js";

const EACH = 24;

export async function home(room, go) {
  const file = el("input", {
    type: "file",
    id: "file",
    accept: ".png,.jpg,.jpeg,.tif,.tiff,.bmp,.dcm,image/*",
    onchange: () => file.files.length && take(file.files[0]),
  });
  const fault = el("p", { class: "fault", role: "alert", hidden: true });
  const drop = el(
    "label",
    { class: "drop", for: "file" },
    el("span", { class: "big" }, "Drop an image here, or choose one"),
    el("span", { class: "note" }, "A photograph of an eye, a segmented eye, a digit, or an image for your own model: PNG, JPEG, TIFF, BMP, DICOM"),
    file,
  );

  async function take(chosen) {
    fault.hidden = true;
    try {
      if (chosen.size > room.limits.bytes)
        throw new Error(`${chosen.name} is larger than ${Math.round(room.limits.bytes / 2 ** 20)} MB; make it smaller.`);
      const { image } = await send(chosen);
      await go(`/image/${image}`);
    } catch (error) {
      fault.textContent = error.message;
      fault.hidden = false;
      say(error.message, true);
    } finally {
      file.value = "";
    }
  }

  const over = (event) => {
    event.preventDefault();
    drop.classList.toggle("over", event.type === "dragover");
  };
  const dropped = (event) => {
    over(event);
    if (event.dataTransfer?.files.length) take(event.dataTransfer.files[0]);
  };
  const events = { dragover: over, dragleave: over, drop: dropped };
  for (const [name, work] of Object.entries(events)) addEventListener(name, work);

  const recent = await get("/api/runs");
  return {
    title: "Images",
    nodes: [
      el("h1", {}, "What is this decision based on?"),
      el(
        "ol",
        { class: "steps" },
        el("li", {}, el("b", {}, "Choose an image"), " and see what the model says."),
        el("li", {}, el("b", {}, "Explain"), " to see the pixels that the decision rests on."),
        el("li", {}, el("b", {}, "Test it"), ": take a vessel away and see what changes."),
      ),
      drop,
      fault,
      recent.length ? results(recent) : null,
      ...room.sets.map((set) => (set.name === "job" ? jobLink(set) : gallery(set))),
    ].filter(Boolean),
    leave: () => {
      for (const [name, work] of Object.entries(events)) removeEventListener(name, work);
    },
  };
}

function results(recent) {
  return el(
    "section",
    { "aria-label": "Your results" },
    el("h2", {}, "Your results ", el("a", { class: "aside", href: "/api/runs/report.html", download: true }, "all in one report (HTML)")),
    el(
      "ul",
      { class: "gallery" },
      recent.slice(0, 12).map((one) =>
        el(
          "li",
          {},
          el(
            "a",
            { href: `/result/${one.run}`, "data-go": true },
            el("img", { src: thumb(one.image), alt: "", loading: "lazy", width: 112, height: 112 }),
            el("span", {}, one.title),
            el("small", {}, one.explainers.join(", ")),
          ),
        ),
      ),
    ),
  );
}

/** A job can be long, and what failed has no picture: it is looked at in the worklist. */
function jobLink(set) {
  return el(
    "section",
    { "aria-label": set.title },
    el("h2", {}, set.title, " ", el("small", {}, `${set.count} images`)),
    el("p", {}, el("a", { href: "/worklist/job", "data-go": true }, "Open its worklist"), " · ", el("a", { href: "/api/job/report.html", download: true }, "report in one file (HTML)")),
  );
}

function gallery(set) {
  const list = el("ul", { class: "gallery" });
  const more = el("button", { type: "button", onclick: add }, "Show more");
  let shown = 0;
  function add() {
    const until = Math.min(set.count, shown + (shown ? EACH : EACH / 2));
    for (; shown < until; shown++) {
      const image = `${set.name}/${shown}`;
      list.append(
        el(
          "li",
          {},
          el(
            "a",
            { href: `/image/${image}`, "data-go": true, "data-image": image },
            el("img", { src: thumb(image), alt: "", loading: "lazy", width: 112, height: 112 }),
            el("span", {}, `${set.one} ${shown + 1}`),
          ),
        ),
      );
    }
    more.hidden = shown >= set.count;
  }
  add();
  return el(
    "section",
    { "aria-label": set.title },
    el("h2", {}, set.title, " ", el("small", {}, `${set.count} images`)),
    list,
    more,
  );
}
