// What is listed and what is chosen, mouse and keyboard. All text of the input gets in as text nodes
// or on the canvas, never as markup.

const STATES = ["waiting", "placed", "running"];
const MOST_LISTED = 300;    // gangs in the list
const MOST_IN_DOMAIN = 50;  // gangs in what is said of a domain

// ---- what is chosen

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function button(text, act, attributes = {}) {
  const made = element("button", text, {type: "button", ...attributes});
  made.addEventListener("click", act);
  return made;
}

function listOf(lines) {
  const list = element("ul");
  for (const line of lines) list.append(element("li", line));
  return list;
}

function podSetParts(podSet) {
  const flavor = data.flavors[podSet.flavor];
  const each = flavor && podSet.each > 0
    ? `, ${amountText(flavor.resource, podSet.each)} ${flavor.resource === "cpu" ? "" : flavor.resource + " "}each` : "";
  const parts = [element("p", `${podSet.name}: ${countText(podSet.pods, "pod")}${each}, ${podSet.requested}`)];
  if (podSet.lines) parts.push(listOf(podSet.lines));
  if (podSet.lost > 0) {
    parts.push(element("p", `${countText(podSet.lost, "pod")} on nodes that are not drawn: they are gone or take no part`,
      {class: "bad"}));
  }
  return parts;
}

function showGang(gang) {
  const parts = [element("h2", gang.name),
    element("p", `${gang.status}; priority ${gang.priority}${gang.queue ? `; ClusterQueue ${gang.queue}` : ""}`)];
  for (const podSet of gang.podSets) parts.push(...podSetParts(podSet));
  const heading = (text) => parts.push(element("h3", text));
  if (gang.reasons.length > 0) {
    heading(gang.state === "waiting" ? "Why it waits" : "What is wrong");
    for (const reason of gang.reasons) parts.push(element("p", reason, {class: "bad"}));
  }
  if (gang.nearest) {
    heading(`Nearest, ${gang.nearest.when} (dashed)`);
    parts.push(element("p", gang.nearest.text), listOf(gang.nearest.binding));
    if (gang.nearest.level >= 0) parts.push(button("Show it", () => showNearest(gang)));
  }
  if (gang.changes.length > 0) {
    heading("Would fit");
    parts.push(listOf(gang.changes));
  }
  if (gang.otherwise.length > 0) {
    heading("Here it would go (dashed)");
    for (const podSet of gang.otherwise) parts.push(...podSetParts(podSet));
  }
  return parts;
}

function showDomain(domain) {
  const tree = topology();
  const parts = [element("h2", `${levelName(domain)} ${domain.level < 0 ? flavorData().name : tree.path(domain)}`),
    element("p", roomText(domain))];
  const resource = flavorData().resource;
  const others = tree.of(tree.others, domain);
  if (others > 0) parts.push(element("p", `${amountText(resource, others)} in use by pods of no gang here`));
  if (domain.level < tree.lowest && !same(domain, view.open)) {
    parts.push(button("Open it", () => open(domain)));
  }
  const gangs = tree.gangsIn(domain);
  parts.push(element("h3", gangs.length > 0 ? `In it: ${countText(gangs.length, "gang")}` : "No gang is in it"));
  const list = element("ul");
  for (const [gang, amount, pods] of gangs.slice(0, MOST_IN_DOMAIN)) {
    const item = element("li");
    item.append(button(data.gangs[gang].name, () => chooseGang(gang)),
      `: ${countText(pods, "pod")}, ${amountText(resource, amount)}`);
    list.append(item);
  }
  parts.push(list);
  if (gangs.length > MOST_IN_DOMAIN) parts.push(element("p", `and ${gangs.length - MOST_IN_DOMAIN} more`));
  return parts;
}

function showChosen() {
  const gang = data.gangs[view.gang];
  const parts = gang ? showGang(gang)
    : data.flavors.length > 0 ? showDomain(view.domain || view.open)
      : [element("p", "There is no flavor with a topology: nothing to draw.")];
  document.getElementById("detail").replaceChildren(...parts);
  for (const row of document.querySelectorAll("#gangs button")) {
    row.setAttribute("aria-pressed", String(Number(row.dataset.gang) === view.gang));
  }
}

function showPath() {
  const tree = topology();
  const steps = [];
  for (let level = -1; level <= view.open.level; ++level) {
    const domain = tree.above(view.open, level);
    steps.push(button(level < 0 ? flavorData().name : tree.name(domain), () => open(domain),
      level === view.open.level ? {"aria-current": "location"} : {}));
  }
  document.getElementById("path").replaceChildren(...steps);
}

function showLegend() {
  const flavor = flavorData();
  const swatch = (color, text) => {
    const mark = element("i");
    mark.style.background = color;
    return [mark, text];
  };
  const used = data.gangs.length > 0
    ? swatch("linear-gradient(90deg, #e99696, #96e9b1, #a996e9)", "gangs") : [];
  const by = flavor.accelerator
    ? `area: ${flavor.resource}` : "area: cpu, as no node here has an accelerator";
  document.getElementById("legend").replaceChildren(by, ...used,
    ...swatch("var(--others)", "other pods"), ...swatch("var(--free)", "free"));
}

function refresh() {
  if (data.flavors.length > 0) draw();
  showChosen();
}

function open(domain) {
  const before = view.open;
  view.open = domain;
  view.focus = null;
  // On the way out the box one comes from stays in focus.
  if (before.level > domain.level) view.focus = topology().above(before, domain.level + 1);
  showPath();
  refresh();
  if (!view.focus && view.boxes.length > 0) view.focus = view.boxes[0].domain;
  draw();
  tell(domainText(view.open));
}

function chooseFlavor(flavor) {
  view.flavor = flavor;
  view.open = {level: -1, index: 0};
  view.focus = view.domain = null;
  document.getElementById("flavor").value = String(flavor);
  showPath();
  showLegend();
}

function openToShow(flavor, domain) {
  if (flavor !== view.flavor) chooseFlavor(flavor);
  view.open = domain;
  view.focus = null;
  showPath();
}

function chooseGang(index) {
  view.gang = index;
  view.domain = null;
  const gang = data.gangs[index];
  const podSet = gang.podSets.find((set) => set.flavor >= 0 && set.leaves.length > 0);
  if (podSet) {
    const tree = topologies[podSet.flavor]();
    const leaves = [...gang.podSets, ...gang.otherwise].filter((set) => set.flavor === podSet.flavor)
      .flatMap((set) => set.leaves.filter((_, i) => i % 2 === 0));
    const holding = tree.holding(leaves);
    // One level out of a single leaf or rack there is more to see.
    openToShow(podSet.flavor, tree.above(holding, Math.min(holding.level, tree.lowest - 1) - 1));
  } else if (gang.nearest && gang.nearest.flavor >= 0) {
    openNearest(gang);
  }
  refresh();
}

function openNearest(gang) {
  const near = gang.nearest;
  openToShow(near.flavor, topologies[near.flavor]().above(near, near.level - 1));
}

function showNearest(gang) {
  openNearest(gang);
  view.focus = {level: gang.nearest.level, index: gang.nearest.index};
  canvas.focus();
  refresh();
  tell(domainText(view.focus));
}

function chooseDomain(domain) {
  view.gang = -1;
  view.domain = domain;
  view.focus = domain;
  refresh();
}

const tell = (text) => { document.getElementById("cell").textContent = text; };

// ---- the list of gangs

function showList() {
  const wanted = document.getElementById("find").value.toLowerCase();
  const state = document.getElementById("state").value;
  const found = [];
  data.gangs.forEach((gang, i) => {
    if (state !== "" && gang.state !== state) return;
    if (gang.name.toLowerCase().includes(wanted)) found.push(i);
  });
  const rank = (i) => STATES.indexOf(data.gangs[i].state);
  found.sort((a, b) => rank(a) - rank(b) || a - b);
  const list = document.getElementById("gangs");
  list.replaceChildren(...found.slice(0, MOST_LISTED).map((i) => {
    const gang = data.gangs[i];
    const row = button(undefined, () => chooseGang(i), {"data-gang": i, "aria-pressed": String(i === view.gang)});
    const mark = element("i", undefined, {"aria-hidden": "true"});
    if (gang.state !== "waiting") mark.style.background = gangColor(i);
    row.append(mark, element("span", gang.name), element("span", gang.status,
      {class: gang.state === "waiting" || gang.reasons.length > 0 ? "bad" : "dim"}));
    const item = element("li");
    item.append(row);
    return item;
  }));
  const hidden = found.length - MOST_LISTED;
  document.getElementById("more").textContent = found.length === 0 ? "No gang is like that."
    : hidden > 0 ? `and ${hidden.toLocaleString("en-US")} more: find them by name` : "";
}

// ---- mouse and keyboard

function boxAt(x, y) {
  let found = null;  // the last that holds the point is the innermost
  for (const box of view.boxes) {
    if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) found = box;
  }
  return found;
}

const boxOf = (event) => {
  const at = canvas.getBoundingClientRect();
  return boxAt(event.clientX - at.left, event.clientY - at.top);
};

function showTip(event) {
  const tip = document.getElementById("tip");
  const box = boxOf(event);
  tip.hidden = !box;
  if (!box) return;
  tip.textContent = domainText(box.domain);
  const at = canvas.getBoundingClientRect();
  const left = event.clientX - at.left;
  tip.style.left = `${Math.max(0, Math.min(left + 12, at.width - tip.offsetWidth - 4))}px`;
  const top = event.clientY - at.top + 14;
  tip.style.top = `${top + tip.offsetHeight > at.height ? top - tip.offsetHeight - 24 : top}px`;
}

// The box of the same level that lies next in a direction: near, and rather straight than aside.
function neighbour(from, dx, dy) {
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const box of view.boxes) {
    if (box.domain.level !== from.domain.level || box === from) continue;
    const [otherX, otherY] = middle(box);
    const along = (otherX - x) * dx + (otherY - y) * dy;
    const aside = Math.abs((otherX - x) * dy) + Math.abs((otherY - y) * dx);
    if (along <= 0.5 || along + 2 * aside >= least) continue;
    least = along + 2 * aside;
    best = box;
  }
  return best;
}

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

function moveFocus(key) {
  const from = view.boxes.find((box) => same(box.domain, view.focus));
  const to = from ? neighbour(from, ...ARROWS[key]) : view.boxes[0];
  if (!to) return;
  view.focus = to.domain;
  draw();
  tell(domainText(view.focus));
}

function goBack() {
  if (view.gang >= 0 || view.domain) {
    view.gang = -1;
    view.domain = null;
    refresh();
    tell(domainText(view.open));
  } else if (view.open.level >= 0) {
    open(topology().above(view.open, view.open.level - 1));
  }
}

function onCanvasKey(event) {
  const tree = topology();
  if (event.key in ARROWS) {
    moveFocus(event.key);
  } else if (event.key === "Enter" && view.focus) {
    const domain = view.focus;
    if (domain.level < tree.lowest) open(domain);
    else chooseDomain(domain);
  } else if (event.key === " " && view.focus) {
    chooseDomain(view.focus);
  } else {
    return;
  }
  event.preventDefault();
}

function onListKey(event) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const rows = [...document.querySelectorAll("#gangs button")];
  const at = rows.indexOf(document.activeElement);
  const next = rows[event.key === "ArrowDown" ? at + 1 : at - 1];
  if (!next) return;
  next.focus();
  event.preventDefault();
}

// ---- start

function fillChoices() {
  const flavors = document.getElementById("flavor");
  data.flavors.forEach((flavor, i) => flavors.append(element("option", flavor.name, {value: i})));
  document.getElementById("flavor-label").hidden = data.flavors.length < 2;
  flavors.addEventListener("change", () => {
    chooseFlavor(Number(flavors.value));
    refresh();
  });
  const states = document.getElementById("state");
  states.append(element("option", `all ${countText(data.gangs.length, "gang")}`, {value: ""}));
  for (const state of STATES) {
    const count = data.gangs.filter((gang) => gang.state === state).length;
    if (count > 0) states.append(element("option", `${count.toLocaleString("en-US")} ${state}`, {value: state}));
  }
  states.addEventListener("change", showList);
  document.getElementById("find").addEventListener("input", showList);
}

// Of a page that is served; a file has none.
function showLinks() {
  const links = document.getElementById("links");
  for (const [text, href] of data.links ?? []) links.append(element("a", text, {href}));
  links.hidden = links.children.length === 0;
}

function start() {
  document.getElementById("title").textContent = data.command;
  document.title = data.command;
  document.getElementById("facts").textContent = data.facts;
  showLinks();
  fillChoices();
  showList();
  document.getElementById("gangs").addEventListener("keydown", onListKey);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") goBack(); });
  if (data.flavors.length === 0) {
    document.getElementById("map").hidden = true;
  } else {
    listenToMap();
    chooseFlavor(0);
  }
  const about = data.gangs.findIndex((gang) => gang.name === data.about);
  if (about >= 0) chooseGang(about);
  refresh();
  startAtlas();
  performance.mark("drawn");
}

function listenToMap() {
  canvas.addEventListener("pointermove", showTip);
  canvas.addEventListener("pointerleave", () => { document.getElementById("tip").hidden = true; });
  canvas.addEventListener("click", (event) => {
    const box = boxOf(event);
    if (box) chooseDomain(box.domain);
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = boxOf(event);
    if (!box) return;
    const level = Math.min(box.domain.level, topology().lowest - 1);
    if (level > view.open.level) open(topology().above(box.domain, level));
  });
  canvas.addEventListener("keydown", onCanvasKey);
  canvas.addEventListener("focus", () => {
    if (!view.focus && view.boxes.length > 0) view.focus = view.boxes[0].domain;
    draw();
    if (view.focus) tell(domainText(view.focus));
  });
  canvas.addEventListener("blur", draw);
  dark.addEventListener("change", () => { showList(); draw(); });
  new ResizeObserver(draw).observe(canvas);
}

start();
