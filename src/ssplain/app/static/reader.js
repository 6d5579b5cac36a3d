// Who reads: the name on the page, blind reading, and the order in which images follow each other.
import { el } from "./dom.js";

export const reader = () => localStorage.reader ?? "";
export const blind = () => localStorage.blind === "yes";

/** The fields for name and blind reading; `changed` is called when one of them changes. */
export function readerFields(changed) {
  const name = el("input", {
    type: "text",
    id: "reader",
    maxlength: "40",
    autocomplete: "off",
    placeholder: "name or initials",
    onchange: () => {
      localStorage.reader = name.value.trim();
      changed();
    },
  });
  name.value = reader();
  const box = el("input", {
    type: "checkbox",
    id: "blind",
    checked: blind(),
    onchange: () => {
      localStorage.blind = box.checked ? "yes" : "no";
      changed();
    },
  });
  return [
    el("label", { for: "reader" }, "Reader ", name),
    el("label", { for: "blind" }, box, " Blind: hide decision and map until I have graded"),
  ];
}

/** Remember the order of a worklist, so that next and last follow it. */
export function follow(images) {
  sessionStorage.order = JSON.stringify(images);
}

/** The neighbours of an image: in the worklist it was opened from, or else in its set. */
export function neighbours(image, sets) {
  const order = JSON.parse(sessionStorage.order ?? "[]");
  const at = order.indexOf(image);
  const path = (name) => name && `/image/${name}`;
  if (at >= 0) return { last: path(order[at - 1]), next: path(order[at + 1]) };
  const [source, key] = image.split("/");
  const set = sets.find((one) => one.name === source);
  if (!set) return {};
  const index = Number(key);
  const first = source === "job" ? 1 : 0; // a job numbers its images from 1
  return {
    last: index > first && path(`${source}/${index - 1}`),
    next: index + 1 < set.count + first && path(`${source}/${index + 1}`),
  };
}
