"use strict";
(() => {
  const shared = JSON.parse(document.querySelector("#shared script").textContent);

  // --- the ledger's filter -------------------------------------------------------------------
  const filters = document.querySelector(".filters");
  if (filters) {
    const buttons = [...filters.querySelectorAll("button")];
    const rows = [...document.querySelectorAll(".ledger tbody tr")];
    filters.hidden = false;
    const show = (verdict) => {
      for (const one of buttons) one.setAttribute("aria-pressed", one.dataset.verdict === verdict);
      for (const row of rows) row.hidden = verdict !== "" && row.dataset.verdict !== verdict;
    };
    for (const one of buttons) one.addEventListener("click", () => show(one.dataset.verdict));
    // a link to a claim that is filtered out brings all of them back
    addEventListener("hashchange", () => {
      const row = rows.find((one) => `#${one.id}` === location.hash);
      if (!row?.hidden) return;
      show("");
      row.scrollIntoView();
    });
  }

  // --- pictures are decoded when they are looked at, or printed ------------------------------
  // (browsers do not put off pictures that lie in the page itself)
  const later = [...document.querySelectorAll("img.later")];
  const load = (picture) => {
    if (!picture.dataset.src) return;
    picture.src = picture.dataset.src;
    delete picture.dataset.src;
  };
  const near = new IntersectionObserver(
    (changes) => {
      for (const change of changes) {
        if (!change.isIntersecting) continue;
        load(change.target);
        near.unobserve(change.target);
      }
    },
    { rootMargin: "600px" },
  );
  later.forEach((picture) => near.observe(picture));
  addEventListener("beforeprint", () => later.forEach(load));

  // --- what is folded is printed too ---------------------------------------------------------
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
  });

  // --- example maps --------------------------------------------------------------------------
  async function unpack(text) {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // a colour as one number, as the pixels of a picture lie in memory
  const word = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  const scores = shared.colours.scores.map(word);
  const kept = shared.colours.kept.map(word);
  const purple = word(shared.colours.purple);
  const grey = kept.map((_, i) => word([i, i, i]));

  function percent(share) {
    return `${Number((100 * share).toFixed(2))} %`;
  }

  function start(home, at) {
    const data = JSON.parse(home.querySelector("script").textContent);
    const size = data.height * data.width;
    const image = home.querySelector(".image");
    const slider = home.querySelector("input[type=range]");
    const output = home.querySelector("output");
    const views = [...home.querySelectorAll(".view input")];
    const maps = home.querySelector(".maps");
    let bytes = null;

    maps.classList.toggle("large", data.width > 64);
    data.titles.forEach((title, i) => image.add(new Option(title, i)));
    for (const view of views) view.name = `view-${at}`; // radio buttons belong together by name
    const canvases = ["image", ...data.names].map((name) => {
      const figure = document.createElement("figure");
      const canvas = document.createElement("canvas");
      const caption = document.createElement("figcaption");
      canvas.width = data.width;
      canvas.height = data.height;
      canvas.setAttribute("role", "img");
      caption.textContent = name;
      figure.append(canvas, caption);
      maps.append(figure);
      return canvas;
    });

    function paint(canvas, colour) {
      const context = canvas.getContext("2d");
      const picture = context.createImageData(data.width, data.height);
      const words = new Uint32Array(picture.data.buffer);
      for (let i = 0; i < size; i++) words[i] = colour(i);
      context.putImageData(picture, 0, 0);
    }

    function draw() {
      if (!bytes) return;
      const view = views.find((one) => one.checked).value;
      const level = Number(slider.value);
      const share = shared.shares[level];
      const said =
        view === "scores"
          ? "the scores, from zero to the highest"
          : `${percent(share)} of all pixels: ${data.counts[level]} of ${size}`;
      slider.disabled = view === "scores";
      slider.setAttribute("aria-valuetext", said);
      output.textContent = said;
      paint(canvases[0], (i) => grey[bytes[i]]);
      canvases.slice(1).forEach((canvas, k) => {
        const plane = size * (1 + 3 * k + ["inside", "all", "scores"].indexOf(view));
        canvas.setAttribute("aria-label", `${data.names[k]}: ${said}`);
        if (view === "scores") paint(canvas, (i) => scores[bytes[plane + i]]);
        else paint(canvas, (i) => (bytes[plane + i] <= level ? kept[bytes[i]] : purple));
      });
    }

    async function choose() {
      const wanted = image.value;
      const unpacked = await unpack(data.images[wanted]);
      if (wanted !== image.value) return; // another image was chosen meanwhile
      bytes = unpacked;
      canvases[0].setAttribute("aria-label", `image: ${data.titles[wanted]}`);
      draw();
    }

    image.addEventListener("change", choose);
    slider.addEventListener("input", draw);
    for (const view of views) view.addEventListener("change", draw);
    home.hidden = false;
    // maps are unpacked when the viewer comes near
    new IntersectionObserver((changes, watching) => {
      if (!changes.some((change) => change.isIntersecting)) return;
      watching.disconnect();
      choose();
    }, { rootMargin: "600px" }).observe(home);
  }

  document.querySelectorAll(".viewer").forEach(start);
})();
