// An image that a model cannot take.
import { el } from "./dom.js";

/** The model cannot take this image: say why and offer the others. */
export function unfit(room, go, asked, error) {
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
