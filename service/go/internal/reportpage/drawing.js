// What is drawn, and the words that say the same. The scripts of this folder are one: tree_map.js,
// drawing.js, atlas.js, page.js.

const data = JSON.parse(document.getElementById("data").textContent);
for (const gang of data.gangs) {  // what is empty is left out of the data
  gang.reasons ??= [];
  gang.changes ??= [];
  gang.otherwise ??= [];
}
const canvas = document.getElementById("canvas");
const dark = matchMedia("(prefers-color-scheme: dark)");
const topologies = data.flavors.map((flavor, i) => {
  let made = null;  // when it is first looked at
  return () => made || (made = new Topology(flavor, data.gangs, i));
});

const MOST_BOXES = 3000;   // drawn at once, as long as the level that is opened has no more
const LEAST_AREA = 90;     // of a box on average, in square pixels
const TITLE = 15;          // height of the title of a box that holds boxes
const EXACT = 2 ** 53;     // numbers beyond are not

const view = {
  flavor: 0,
  open: {level: -1, index: 0},
  focus: null,     // a box
  gang: -1,        // chosen
  domain: null,    // chosen
  boxes: [],       // that are drawn: {domain, x, y, width, height, inner}
  finest: -1,      // level of the boxes that hold none
  letter: 7,       // width of one on the canvas
};

const topology = () => topologies[view.flavor]();
const flavorData = () => data.flavors[view.flavor];
const same = (a, b) => a && b && a.level === b.level && a.index === b.index;

// ---- words

function amountText(resource, amount) {
  const bytes = resource === "memory" || resource === "ephemeral-storage" ||
    resource.startsWith("hugepages-");
  if (resource === "cpu") amount /= 1000;
  let unit = resource === "cpu" ? " cores" : "";
  if (bytes) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = 0;
    while (power + 1 < units.length && Math.abs(amount) >= 1024) {
      amount /= 1024;
      ++power;
    }
    unit = " " + units[power];
  }
  if (Math.abs(amount) >= EXACT) return "about " + amount.toExponential(2) + unit;
  return amount.toLocaleString("en-US", {maximumFractionDigits: 1}) + unit;
}

const countText = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

function levelName(domain) {
  return domain.level < 0 ? "flavor" : flavorData().levels[domain.level];
}

function roomText(domain) {
  const tree = topology();
  const resource = flavorData().resource;
  const capacity = tree.of(tree.capacity, domain);
  const free = capacity - tree.of(tree.others, domain) - tree.of(tree.taken, domain);
  const name = resource === "cpu" ? "" : " " + resource;
  const over = free < 0 ? `, ${amountText(resource, -free)} more in use than there is` : "";
  return `${amountText(resource, Math.max(0, free))} of ${amountText(resource, capacity)}${name} free${over}`;
}

function domainText(domain) {
  const tree = topology();
  const [begin, end] = tree.leaves(domain);
  const gangs = tree.gangsIn(domain).length;
  const leaves = domain.level === tree.lowest
    ? "" : `, ${countText(end - begin, flavorData().levels[tree.lowest])}`;
  const where = domain.level < 0 ? flavorData().name : tree.path(domain);
  return `${levelName(domain)} ${where}: ${roomText(domain)}${leaves}, ${countText(gangs, "gang")}`;
}

// ---- colors

const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Neighbours in the list differ most: the hue goes on by the golden angle.
// Light enough, or dark enough, for the text on it.
function gangColor(gang) {
  const hue = (gang * 137.508) % 360;
  const placed = data.gangs[gang].state === "placed";
  return `hsl(${hue.toFixed(0)} ${placed ? 62 : 38}% ${dark.matches ? 36 : 70}%)`;
}

// ---- layout

// Boxes of the children of a domain, each followed by those in it, down to level `finest`.
function layOut(domain, x, y, width, height, finest, boxes) {
  const tree = topology();
  const level = domain.level + 1;
  const [begin, end] = tree.within(domain, level);
  if (begin === end || width <= 0 || height <= 0) return;
  const sums = tree.capacity[level];
  let total = 0;
  for (let i = begin; i < end; ++i) total += sums[i];
  // Domains without capacity have to be found too.
  const least = total > 0 ? 0.05 * total / (end - begin) : 1;
  const order = Array.from({length: end - begin}, (_, i) => begin + i);
  const weight = (i) => Math.max(least, sums[i]);
  const names = flavorData().names[level];
  const compare = new Intl.Collator("en", {numeric: true}).compare;
  const named = order.length <= MOST_BOXES;
  order.sort((a, b) => weight(b) - weight(a) || (named ? compare(names[a], names[b]) : a - b));
  squarify(order.map(weight), x, y, width, height).forEach(([left, top, wide, high], i) => {
    const gap = Math.min(1, wide / 8, high / 8) * (level < finest ? 1.5 : 0.5);
    const box = {domain: {level, index: order[i]}, x: left + gap, y: top + gap,
      width: wide - 2 * gap, height: high - 2 * gap, inner: level < finest};
    boxes.push(box);
    if (!box.inner) return;
    const title = box.height > 3 * TITLE && box.width > 40 ? TITLE : 2;
    layOut(box.domain, box.x + 2, box.y + title, box.width - 4, box.height - title - 2, finest, boxes);
  });
}

function finestLevel(area) {
  const tree = topology();
  let finest = view.open.level + 1;
  for (let level = finest + 1; level <= tree.lowest; ++level) {
    const [begin, end] = tree.within(view.open, level);
    if (end - begin > MOST_BOXES || area / (end - begin) < LEAST_AREA) break;
    finest = level;
  }
  return finest;
}

// ---- drawing

function draw() {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  view.finest = finestLevel(width * height);
  view.boxes = [];
  layOut(view.open, 0, 0, width, height, view.finest, view.boxes);
  if (view.focus && !view.boxes.some((box) => same(box.domain, view.focus))) view.focus = null;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  view.letter = context.measureText("0123456789").width / 10;
  const colors = Object.fromEntries(["panel", "line", "text", "free", "others", "ring", "halo", "small", "bad"]
    .map((name) => [name, cssColor("--" + name)]));
  for (const box of view.boxes) (box.inner ? drawOuter : drawInner)(context, box, colors);
  drawMarks(context, colors);
  canvas.setAttribute("aria-label", view.boxes.length === 0
    ? "Tree map: there is nothing to draw" : `Tree map of ${domainText(view.open)}`);
}

const lettersIn = (width) => Math.floor((width - 6) / view.letter);

function drawText(context, text, x, y, width) {
  const most = lettersIn(width);
  if (most < 3) return;
  context.fillText(text.length > most ? text.slice(0, most - 1) + "…" : text, x + 3, y, width - 5);
}

// Names beside each other differ at the end, those of hosts at the end of the first part.
function drawShortName(context, name, x, y, width) {
  const most = lettersIn(width);
  if (most < 3) return;
  const host = /^[^.]*[a-z][^.]*\./i.test(name) ? name.slice(0, name.indexOf(".")) : name;
  const text = name.length <= most ? name : host;
  context.fillText(text.length > most ? "…" + text.slice(text.length - most + 1) : text, x + 3, y, width - 5);
}

function drawOuter(context, box, colors) {
  context.fillStyle = colors.panel;
  context.fillRect(box.x, box.y, box.width, box.height);
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.strokeRect(box.x, box.y, box.width, box.height);
  if (box.height <= 3 * TITLE || box.width <= 40) return;
  context.fillStyle = colors.text;
  const name = topology().name(box.domain);
  const room = roomText(box.domain).split(" of ")[0] + " free";
  const text = name.length + room.length + 3 < lettersIn(box.width) ? `${name} · ${room}` : name;
  drawText(context, text, box.x, box.y + TITLE / 2 + 1, box.width);
}

// What is in use from the left, by gang, then what other pods use, then what is free.
function drawInner(context, box, colors) {
  const tree = topology();
  context.fillStyle = colors.free;
  context.fillRect(box.x, box.y, box.width, box.height);
  const others = tree.of(tree.others, box.domain);
  const all = Math.max(tree.of(tree.capacity, box.domain), others + tree.of(tree.taken, box.domain));
  let x = box.x;
  const fill = (amount, color) => {
    if (!(amount > 0) || !(all > 0)) return;
    const width = box.width * (amount / all);
    context.fillStyle = color;
    context.fillRect(x, box.y, width, box.height);
    x += width;
  };
  const chosen = view.gang >= 0 && data.gangs[view.gang].state !== "waiting";
  let small = 0;  // amount of gangs that are too small to see
  for (const [gang, amount] of tree.gangsIn(box.domain)) {
    if (gang !== view.gang && box.width * (amount / all) < 0.5) {
      small += amount;
      continue;
    }
    context.globalAlpha = !chosen || view.gang === gang ? 1 : 0.22;
    fill(amount, gangColor(gang));
  }
  context.globalAlpha = chosen ? 0.22 : 1;
  fill(small, colors.small);
  context.globalAlpha = 1;
  fill(others, colors.others);
  if (box.height < 13) return;
  context.fillStyle = colors.text;
  const y = box.y + Math.min(8, box.height / 2);
  drawShortName(context, tree.name(box.domain), box.x, y, box.width);
}

function outline(context, box, color, halo, width, dashes) {
  context.setLineDash(dashes);
  for (const [style, more] of [[halo, 2], [color, 0]]) {
    context.strokeStyle = style;
    context.lineWidth = width + more;
    context.strokeRect(box.x + 1, box.y + 1, Math.max(1, box.width - 2), Math.max(1, box.height - 2));
  }
  context.setLineDash([]);
}

// Leaves of a list [leaf, pods, ...] as a set of domains of the finest level that is drawn.
function drawnDomains(podSets) {
  const tree = topology();
  const found = new Set();
  for (const podSet of podSets) {
    if (podSet.flavor !== view.flavor) continue;
    for (let i = 0; i < podSet.leaves.length; i += 2) {
      found.add(tree.above({level: tree.lowest, index: podSet.leaves[i]}, view.finest).index);
    }
  }
  return found;
}

function drawMarks(context, colors) {
  const gang = data.gangs[view.gang];
  if (gang) {
    const here = drawnDomains(gang.podSets);
    const otherwise = drawnDomains(gang.otherwise || []);
    for (const box of view.boxes) {
      if (box.inner) continue;
      if (here.has(box.domain.index)) outline(context, box, colors.text, colors.halo, 1.5, []);
      if (otherwise.has(box.domain.index)) outline(context, box, colors.bad, colors.halo, 1.5, [4, 3]);
    }
    const near = gang.nearest && gang.nearest.flavor === view.flavor ? gang.nearest : null;
    for (const box of near ? view.boxes : []) {
      if (same(box.domain, near)) outline(context, box, colors.bad, colors.halo, 2, [6, 4]);
    }
  }
  for (const box of view.boxes) {
    if (same(box.domain, view.domain)) outline(context, box, colors.text, colors.halo, 2, []);
  }
  if (document.activeElement !== canvas) return;
  for (const box of view.boxes) {
    if (same(box.domain, view.focus)) outline(context, box, colors.ring, colors.halo, 3, []);
  }
}
