// A photograph while it is being read, and what an eye that was read says beside its grade.
import { get, post } from "./api.js";
import { el, percent, say } from "./dom.js";
import { START } from "./paint.js";
import { Viewer } from "./viewer.js";

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
export const EXPLAINER = "ssplain-ranking"; // the map that comes with a reading

/** The page of a photograph that is still to be read: it is read now. */
export function unread(room, go, known, picture, watched) {
  const stage = el("div", { class: "panes" });
  const nothing = () => {};
  const viewer = new Viewer(stage, picture, room.colours, { hover: nothing, picked: nothing, stroke: nothing, curtain: nothing });
  viewer.add("Photograph", null);
  viewer.show({ ...START });
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const told = el("p", { class: "note", role: "status" }, "Beginning …");
  const fault = el("p", { class: "fault", role: "alert", hidden: true });
  const halt = el("button", { type: "button", onclick: () => run && post(`/api/runs/${run}/stop`).catch((error) => say(error.message, true)) }, "Stop");
  const again = el("button", { type: "button", class: "primary", hidden: true, onclick: () => begin() }, "Read it again");
  let run = watched?.run ?? known.run;
  let gone = false;

  function end(message) {
    fault.textContent = message;
    fault.hidden = false;
    again.hidden = false;
    bar.hidden = told.hidden = halt.hidden = true;
  }

  async function begin() {
    fault.hidden = again.hidden = true;
    bar.hidden = told.hidden = halt.hidden = false;
    try {
      if (!run) {
        const wanted = { image: known.image, model: known.model, explainers: [EXPLAINER] };
        ({ run } = await post("/api/runs", wanted));
        if (!gone) history.replaceState(null, "", `/result/${run}`);
      }
      await follow();
    } catch (error) {
      end(error.message);
    }
  }

  async function follow() {
    const own = run;
    while (!gone) {
      const seen = await get(`/api/runs/${own}`);
      if (gone) return;
      bar.value = seen.done;
      told.textContent = seen.state === "waiting" ? `Waiting: ${seen.position} before this one` : `${seen.stage} · ${percent(seen.done)}`;
      if (seen.result) return go(`/result/${own}`, true); // it is read: the maps come on its own page
      if (!["waiting", "running"].includes(seen.state)) {
        run = null;
        return end(seen.state === "stopped" ? "Stopped." : seen.message);
      }
      await pause(200);
    }
  }

  return {
    title: known.title,
    nodes: [
      el("div", { class: "headline" }, el("h1", {}, known.title)),
      el(
        "div",
        { class: "workspace" },
        el("div", { class: "look" }, stage),
        el(
          "div",
          { class: "side" },
          el(
            "section",
            {},
            el("h2", {}, "Reading this photograph"),
            el("p", {}, "First its vessels and the optic disc are found, then the eye is graded, and the grade is explained."),
            bar,
            told,
            fault,
            el("p", { class: "buttons" }, halt, again),
            el("p", {}, el("a", { href: "/", "data-go": true }, "Choose another image")),
          ),
        ),
      ),
    ],
    shown: begin,
    leave: () => {
      gone = true;
      viewer.watching.disconnect();
    },
  };
}

/**
 * What an eye that was read says: how far the severity moves, the second opinion, what to keep in mind.
 * @param reading as `reading.json` has it
 * @param side "left", "right" or ""
 * @param choose called when the reader says which eye it is
 */
export function eyeFacts(reading, side, choose) {
  const { stability, second_opinion: second } = reading;
  const select = el(
    "select",
    { id: "eye", onchange: () => choose(select.value) },
    [["", "not known"], ["left", "left"], ["right", "right"]].map(([value, text]) => el("option", { value, selected: value === side }, text)),
  );
  const warnings = reading.warnings.filter((text) => !(side && text.startsWith("Whether it is a left")));
  return [
    el(
      "table",
      { class: "numbers" },
      el(
        "tbody",
        {},
        fact("Severity under small changes", `${stability.lowest_severity.toFixed(1)} to ${stability.highest_severity.toFixed(1)}`),
        fact("Second opinion, from measured vessels alone", second.severity === null ? second.grade : `${second.grade}, severity ${second.severity.toFixed(1)}`),
        fact("Optic disc", reading.disc ? `${(2 * reading.disc[2]).toFixed(0)} px wide` : "not in view"),
        fact("Picture", `${reading.kind}, ${reading.shape[1]} × ${reading.shape[0]} px`),
      ),
    ),
    el("div", { class: "field" }, el("label", { for: "eye" }, "Which eye is it?"), select),
    warnings.length ? el("ul", { class: "warnings" }, warnings.map((text) => el("li", {}, text))) : null,
  ].filter(Boolean);
}

const fact = (name, value) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, value));
