// What this is, and what it is not.
import { el } from "./dom.js";

export function about(room) {
  return {
    title: "About",
    nodes: [
      el("h1", {}, "About this room"),
      el(
        "p",
        { class: "warning", role: "note" },
        el("b", {}, "A research tool, not a medical device."),
        " It must not be used to diagnose, to grade or to treat. It shows what a model looks at, not what a patient has. Models are wrong at times, and so are maps.",
      ),
      el("h2", {}, "What you see"),
      el("p", {}, "A model gives each class a probability. An explainer gives each pixel a score for one class: high means that the class depends on it. The map shows the scores, and the slider the pixels that rank highest."),
      el("p", {}, "Beside each map are three checks. Is the class likelier with only the kept pixels than without them? Does the order of the pixels beat random orders? Does the map stay the same when the image gets a little noise? A map that fails one says so: do not rely on it."),
      el("h2", {}, "What happens to your images"),
      el("p", {}, "They go to the program that shows this page and nowhere else. Only their pixels are kept, in a folder of this browser's session that is deleted when the room closes. The identifiers of DICOM files are dropped."),
      el("h2", {}, "Models"),
      el(
        "dl",
        { class: "facts" },
        room.models.flatMap((model) => [
          el("dt", {}, model.name),
          el(
            "dd",
            {},
            [
              model.classes.length ? `Classes: ${model.classes.join(", ")}.` : "",
              model.accuracy ? `Right for ${(100 * model.accuracy).toFixed(1)} % of its test images.` : "",
              model.note ?? "",
            ]
              .filter(Boolean)
              .join(" "),
          ),
        ]),
      ),
      el("p", { class: "note" }, `ssplain ${room.version}`),
    ],
  };
}
