// From an image and a map to coloured pixels. Pure: arrays in, ImageData out.

/** How to show a map. `share` is of the pixels that are not background. */
export const START = { mode: "overlay", share: 0.25, opacity: 0.85, colours: "inferno", curtain: null };

/** An image as the room sends it: one byte per channel and pixel, plane after plane. */
export class Picture {
  /** `drawn` says, in one byte per pixel, which pixels maps are about; without it all that are not black. */
  constructor(buffer, [channels, height, width], drawn = null) {
    const planes = new Uint8Array(buffer);
    const size = height * width;
    this.height = height;
    this.width = width;
    this.red = planes.subarray(0, size);
    this.green = channels === 3 ? planes.subarray(size, 2 * size) : this.red;
    this.blue = channels === 3 ? planes.subarray(2 * size) : this.red;
    this.drawn = drawn;
    this.inside = new Uint8Array(size);
    this.count = 0;
    for (let i = 0; i < size; i++) {
      const there = drawn ? drawn[i] : this.red[i] || this.green[i] || this.blue[i];
      this.inside[i] = there ? 1 : 0;
      this.count += this.inside[i];
    }
  }
}

/** A map as the room sends it: ranks (32 bits), levels (16 bits), kept (8 bits). */
export class Layer {
  constructor(buffer, size) {
    this.rank = new Uint32Array(buffer, 0, size);
    this.level = new Uint16Array(buffer, 4 * size, size);
    this.kept = new Uint8Array(buffer, 6 * size, size);
  }
}

/** How many pixels a share of an image is. */
export const pixels = (picture, share) => Math.round(share * picture.count);

/** The plain image. */
export function plain(picture) {
  const shown = new ImageData(picture.width, picture.height);
  for (let i = 0, at = 0; i < picture.red.length; i++, at += 4) {
    shown.data[at] = picture.red[i];
    shown.data[at + 1] = picture.green[i];
    shown.data[at + 2] = picture.blue[i];
    shown.data[at + 3] = 255;
  }
  return shown;
}

/** What maps are about, on black: the vessels of a photograph. */
export function grey(picture) {
  const { drawn } = picture;
  return plain({ ...picture, red: drawn, green: drawn, blue: drawn });
}

/** The image with a map, as `how` says; `table` holds 256 colours, three numbers each. */
export function coloured(picture, layer, how, table) {
  if (how.mode === "image" || !layer) return plain(picture);
  const shown = new ImageData(picture.width, picture.height);
  const data = shown.data;
  const most = pixels(picture, how.share);
  const { red, green, blue, inside } = picture;
  const overlay = how.mode === "overlay";
  const top = how.mode === "top";
  // what is not marked: dimmed under an overlay, nearly gone in the bare map
  const dim = overlay ? 1 - 0.45 * how.opacity : 0.16;
  for (let i = 0, at = 0; i < red.length; i++, at += 4) {
    data[at + 3] = 255;
    const marked = inside[i] && layer.rank[i] < most;
    if (top) {
      // the paper's view: the marked pixels of the image, everything else the purple of zero
      data[at] = marked ? red[i] : 68;
      data[at + 1] = marked ? green[i] : 1;
      data[at + 2] = marked ? blue[i] : 84;
      if (marked) {
        const bright = 64 + 0.75 * Math.max(red[i], green[i], blue[i]);
        data[at] = data[at + 1] = data[at + 2] = bright;
      }
    } else if (marked) {
      // start at an eighth of the table: the lowest scores must still be told from the background
      const colour = 3 * (48 + Math.round((207 * layer.level[i]) / 65535));
      const mix = overlay ? how.opacity : 1;
      data[at] = mix * table[colour] + (1 - mix) * red[i];
      data[at + 1] = mix * table[colour + 1] + (1 - mix) * green[i];
      data[at + 2] = mix * table[colour + 2] + (1 - mix) * blue[i];
    } else {
      data[at] = dim * red[i];
      data[at + 1] = dim * green[i];
      data[at + 2] = dim * blue[i];
    }
  }
  return shown;
}

/** Mark a region: every pixel of `region` in one colour, its rim opaque. */
export function marked(picture, region, [red, green, blue], fill) {
  const { width, height } = picture;
  const shown = new ImageData(width, height);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (!region[i]) continue;
      const rim =
        !x || !y || x === width - 1 || y === height - 1 ||
        !region[i - 1] || !region[i + 1] || !region[i - width] || !region[i + width];
      const opacity = rim ? 255 : fill;
      shown.data.set([red, green, blue, opacity], 4 * i);
    }
  }
  return shown;
}

/** The colours of a map from lowest to highest, as the overlay uses them. */
export function legend(canvas, table) {
  const context = canvas.getContext("2d");
  const strip = context.createImageData(canvas.width, 1);
  for (let x = 0; x < canvas.width; x++) {
    const colour = 3 * (48 + Math.round((207 * x) / (canvas.width - 1)));
    strip.data.set([table[colour], table[colour + 1], table[colour + 2], 255], 4 * x);
  }
  for (let y = 0; y < canvas.height; y++) context.putImageData(strip, 0, y);
}

/** A region as bits in base64, as the room reads it. */
export function packed(region) {
  const bits = new Uint8Array(Math.ceil(region.length / 8));
  for (let i = 0; i < region.length; i++) if (region[i]) bits[i >> 3] |= 1 << (i & 7);
  let text = "";
  for (let i = 0; i < bits.length; i += 8192) text += String.fromCharCode(...bits.subarray(i, i + 8192));
  return btoa(text);
}
