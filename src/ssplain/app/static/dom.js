// Small helpers to build the page; text always enters as text, never as HTML.

/** Make an element: el("button", {class: "big", onclick: f, hidden: true}, "Run"). */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Make an SVG element. */
export function svg(tag, props = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

let hiding = 0;

/** Say something in passing, also to screen readers. */
export function say(text, fault = false) {
  const place = document.querySelector("#said");
  place.textContent = text;
  place.classList.toggle("fault", fault);
  place.classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => place.classList.remove("shown"), fault ? 12000 : 4000);
}

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

/** A probability as people read it: never a bare 0 or 100 %. */
export function chance(p) {
  if (p > 0.995) return "> 99 %";
  if (p < 0.005) return "< 1 %";
  return percent(p);
}

/** Call only once per frame, however often it is asked for. */
export function perFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
