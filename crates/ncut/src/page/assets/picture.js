// The picture with its regions.

const pictureMap = page.picture ? makePictureMap() : null;

function makePictureMap() {
  const canvas = byId("map"), context = canvas.getContext("2d");
  const { width, height } = page.picture;
  const labels = new Uint16Array(width * height);
  const runs = decode(page.picture.runs, Uint32Array);
  for (let i = 0, at = 0; i < runs.length; i += 2) {
    labels.fill(runs[i], at, at + runs[i + 1]);
    at += runs[i + 1];
  }
  const overlay = element("canvas", { width, height }), overlayContext = overlay.getContext("2d");
  byId("map-box").classList.add("is-picture");
  byId("map-box").style.setProperty("--picture", width / height);
  placeByPicture(labels, width);
  const middles = middleOfRegions(labels, width), pixels = base.size.reduce((sum, size) => sum + size, 0);
  const photo = new Image();
  const ways = [
    ["Borders", "The borders of the regions over the picture."],
    ["Colours", "Every region in a colour of its own over the picture."],
    ["Flat", "Every region in a colour of its own."],
    ["Picture", "The picture as it is."],
  ];
  let way = 0, box = { x: 0, y: 0, scale: 1 };
  const regionAt = (x, y) => {
    const label = labels[y * width + x];
    return label === NO_CLUSTER ? -1 : view.cut.groupOf[label];
  };

  function paint() {
    const image = overlayContext.createImageData(width, height), out = image.data, group = lit();
    const shown = view.cut.groups.map(rgbOf);
    const reach = Math.max(1, Math.round(Math.max(width, height) / 700));
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at += 4) {
        const own = regionAt(x, y);
        let alpha = way === 1 ? 110 : way === 2 ? 255 : 0, rgb = own < 0 ? [128, 128, 128] : shown[own];
        // What is outside of a mask has no part in it.
        if (own < 0 && way < 3) [rgb, alpha] = [[24, 25, 28], way === 2 ? 255 : 165];
        if (group >= 0 && own !== group) [rgb, alpha] = [[18, 19, 22], way === 3 ? 120 : Math.max(alpha, 150)];
        const isBorder = way !== 3 &&
          ((x + reach < width && regionAt(x + reach, y) !== own) || (y + reach < height && regionAt(x, y + reach) !== own));
        if (isBorder && way < 2) [rgb, alpha] = [way === 0 ? [255, 214, 10] : [255, 255, 255], 235];
        out[at] = rgb[0];
        out[at + 1] = rgb[1];
        out[at + 2] = rgb[2];
        out[at + 3] = alpha;
      }
    }
    overlayContext.putImageData(image, 0, 0);
    draw();
  }

  function draw() {
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scale = Math.min(w / width, h / height);
    box = { scale, x: (w - width * scale) / 2, y: (h - height * scale) / 2 };
    const whole = [box.x, box.y, width * scale, height * scale];
    if (photo.complete && photo.naturalWidth) context.drawImage(photo, ...whole);
    context.drawImage(overlay, ...whole);
    if (way < 3) writeNumbers(scale);
  }

  /** The number of every region where it has its middle; those of small regions only while they are lit. */
  function writeNumbers(scale) {
    const group = lit();
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    for (const one of view.cut.groups) {
      const [x, y] = middles[one.lead].map((part) => part * scale);
      const isLit = one.number === group;
      if (!isLit && (group >= 0 || one.size < pixels / 150)) continue;
      context.font = `650 ${isLit ? 18 : 14}px system-ui, sans-serif`;
      context.lineWidth = 4;
      context.strokeStyle = "rgba(0,0,0,0.65)";
      context.strokeText(one.name, box.x + x, box.y + y);
      context.fillStyle = "#fff";
      context.fillText(one.name, box.x + x, box.y + y);
    }
  }

  function at(event) {
    const frame = canvas.getBoundingClientRect();
    const x = Math.floor((event.clientX - frame.left - box.x) / box.scale);
    const y = Math.floor((event.clientY - frame.top - box.y) / box.scale);
    return x < 0 || y < 0 || x >= width || y >= height ? -1 : regionAt(x, y);
  }

  function select(place) {
    way = place;
    [...byId("views").children].forEach((button, i) => button.setAttribute("aria-pressed", i === place));
    const outside = labels.includes(NO_CLUSTER) && place < 3 ? ` What is dark is in no ${noun.cluster}.` : "";
    byId("map-note").textContent = `${ways[place][1]}${outside} Point at a region to see it alone, select it to keep it; arrow keys go from region to region when the picture has the focus.`;
    paint();
  }

  return {
    start() {
      photo.addEventListener("load", draw);
      photo.src = page.picture.data;
      byId("views").append(...ways.map(([name], place) => element("button", { type: "button", onclick: () => select(place) }, name)));
      canvas.setAttribute("aria-label", `The picture with ${counted(nBase, noun.cluster, noun.clusters)}. The table below says the same in words.`);
      document.querySelector(".zoom").hidden = true;
      select(0);
      canvas.addEventListener("pointermove", (event) => {
        const group = at(event);
        hover(group);
        if (group < 0) return hideTip();
        const frame = canvas.getBoundingClientRect(), one = view.cut.groups[group];
        showTip([element("b", {}, one.title), element("span", {}, `${grouped(one.size)} ${noun.nodes}`)], event.clientX - frame.left, event.clientY - frame.top);
      });
      canvas.addEventListener("pointerleave", () => {
        hover(-1);
        hideTip();
      });
      canvas.addEventListener("click", (event) => choose(at(event)));
      canvas.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (event.key === "Escape") return choose(-1);
        if (!step) return;
        event.preventDefault();
        const count = view.cut.groups.length, now = chosen();
        choose((now < 0 ? (step > 0 ? 0 : count - 1) : now + step + count) % count);
      });
      for (const what of ["light", "cut", "theme"]) listeners[what].push(paint);
      new ResizeObserver(draw).observe(canvas);
    },
  };
}

/** The graph of regions has each where it is in the picture. */
function placeByPicture(labels, width) {
  const side = Math.max(width, labels.length / width);
  meansOf(labels, width).forEach(([x, y], row) => {
    if (Number.isFinite(x)) page.positions[row] = [x / side, y / side];
  });
}

function meansOf(labels, width) {
  const sums = base.label.map(() => [0, 0, 0]);
  for (let i = 0; i < labels.length; i++) {
    const sum = sums[labels[i]];
    if (!sum) continue;
    sum[0] += i % width;
    sum[1] += Math.floor(i / width);
    sum[2]++;
  }
  return sums.map(([x, y, count]) => [x / count, y / count]);
}

/** A pixel of every region that is near its middle. */
function middleOfRegions(labels, width) {
  const means = meansOf(labels, width), nearest = means.map(() => Infinity), found = means.map((mean) => mean);
  for (let i = 0; i < labels.length; i++) {
    const row = labels[i];
    if (!means[row]) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    const distance = (x - means[row][0]) ** 2 + (y - means[row][1]) ** 2;
    if (distance < nearest[row]) [nearest[row], found[row]] = [distance, [x, y]];
  }
  return found;
}
