"use strict";
(() => {
  const shared = JSON.parse(document.querySelector("#shared script").textContent);
  const bar = document.querySelector(".bar");
  const slider = bar.querySelector("#share");
  const output = bar.querySelector("output");
  const explainer = bar.querySelector("#explainer");
  const view = bar.querySelector("#view");
  const printed = document.querySelector("#printed");

  async function unpack(text) {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // a colour as one number, as the pixels of a picture lie in memory
  const word = ([red, green, blue], opacity = 255) => ((opacity << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  const colours = shared.colours.map((colour) => word(colour));
  const DIM = word([0, 0, 0], 120);
  const PURPLE = word([68, 1, 84]);

  /** One image: its canvases, and the bytes of its maps once they are unpacked. */
  class Result {
    constructor(home) {
      this.home = home;
      this.data = JSON.parse(home.querySelector("script").textContent);
      const first = home.querySelector("figure");
      this.figures = this.data.maps.map((name) => {
        const figure = first.cloneNode(true);
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: this.data.width, height: this.data.height });
        canvas.setAttribute("role", "img");
        figure.querySelector(".stage").append(canvas);
        figure.querySelector("img").alt = "";
        figure.querySelector("figcaption").textContent = name;
        first.after(figure);
        return { name, figure, canvas };
      });
      // each came right after the image: turn them round
      [...this.figures].reverse().forEach(({ figure }) => first.after(figure));
      this.dirty = true;
    }

    async prepare() {
      const { width, height, inside, maps, run } = this.data;
      const bytes = await unpack(run);
      const bits = Math.ceil((width * height) / 8);
      this.places = new Uint32Array(inside);
      for (let i = 0, at = 0; i < width * height; i++) if ((bytes[i >> 3] >> (i & 7)) & 1) this.places[at++] = i;
      this.planes = maps.map((_, k) => bytes.subarray(bits + k * inside, bits + (k + 1) * inside));
    }

    draw() {
      if (!this.planes) return;
      this.dirty = false;
      const level = Number(slider.value);
      const top = view.value === "top";
      const { width, height } = this.data;
      this.figures.forEach(({ name, figure, canvas }, k) => {
        figure.hidden = Boolean(explainer.value) && explainer.value !== name;
        canvas.hidden = view.value === "image";
        if (figure.hidden || canvas.hidden) return;
        const context = canvas.getContext("2d");
        const drawn = context.createImageData(width, height);
        const words = new Uint32Array(drawn.data.buffer);
        words.fill(top ? PURPLE : DIM);
        const plane = this.planes[k];
        for (let i = 0; i < this.places.length; i++)
          if (plane[i] <= level) words[this.places[i]] = top ? 0 : colours[plane[i]];
        context.putImageData(drawn, 0, 0);
        canvas.setAttribute("aria-label", `${name}: ${output.textContent}`);
      });
    }
  }

  const results = [...document.querySelectorAll(".result")].map((home) => new Result(home));
  const seen = new Set();
  const watching = new IntersectionObserver((changes) => {
    for (const change of changes) {
      const result = results.find((one) => one.home === change.target);
      if (change.isIntersecting) seen.add(result);
      else seen.delete(result);
      if (change.isIntersecting && result.dirty) result.draw();
    }
  }, { rootMargin: "300px" });

  function show() {
    const share = shared.shares[Number(slider.value)];
    output.textContent = `${Number((100 * share).toFixed(2))} % of the drawn pixels`;
    slider.setAttribute("aria-valuetext", output.textContent);
    slider.disabled = view.value === "image";
    printed.textContent = view.value === "image" ? "" : `Marked: the top ${output.textContent}, by ${explainer.value || "each explainer"}; the brighter, the higher the rank.`;
    for (const one of results) one.dirty = true;
    for (const one of seen) one.draw();
  }

  slider.addEventListener("input", show);
  explainer.addEventListener("change", show);
  view.addEventListener("change", show);
  addEventListener("beforeprint", () => results.forEach((one) => one.draw()));
  bar.hidden = false;
  show();
  (async () => {
    for (const one of results) {
      await one.prepare();
      if (seen.has(one)) one.draw();
      watching.observe(one.home);
    }
    document.body.dataset.ready = "yes";
  })();
})();
