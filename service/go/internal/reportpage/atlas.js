// The atlas: a row for each workload, a column for each domain, coloured by who would have to go.

const atlas = data.atlas;
const atlasCanvas = document.getElementById("atlas-canvas");
const MOST_SHEET_HEIGHT = 480;  // of the picture, in pixels, as far as its rows are not too thin
const atlasView = {sheet: 0, row: -1, column: -1};  // row and column that are told

const sheet = () => atlas.sheets[atlasView.sheet];

function stepText(step) {
  if (step === 0) return "fits as it is";
  if (step > atlas.priorities.length) return "never fits, whoever goes";
  return `fits once all of priority ${atlas.priorities[step - 1]} or lower are gone`;
}

// From green over yellow to red, by how many of the priorities have to go.
function stepColor(step) {
  const light = dark.matches ? 38 : 62;
  if (step === 0) return `hsl(145 45% ${light}%)`;
  if (step > atlas.priorities.length) return cssColor("--others");
  const part = atlas.priorities.length > 1 ? (step - 1) / (atlas.priorities.length - 1) : 0;
  return `hsl(${(58 - 58 * part).toFixed(0)} 75% ${light}%)`;
}

function drawAtlas() {
  const {rows, columns, cells} = sheet();
  const height = Math.max(rows.length, Math.min(16 * rows.length, MOST_SHEET_HEIGHT));
  atlasCanvas.style.height = `${height}px`;
  const ratio = devicePixelRatio || 1;
  const wide = Math.round(atlasCanvas.clientWidth * ratio);
  const high = Math.round(height * ratio);
  atlasCanvas.width = wide;
  atlasCanvas.height = high;
  const context = atlasCanvas.getContext("2d");
  const colors = Array.from({length: atlas.priorities.length + 2}, (_, step) => stepColor(step));
  // Whole pixels, so that no line shows between two cells.
  const left = (column) => Math.round(column * wide / columns.length);
  const top = (row) => Math.round(row * high / rows.length);
  cells.forEach((line, row) => line.forEach((step, column) => {
    context.fillStyle = colors[step];
    context.fillRect(left(column), top(row), left(column + 1) - left(column), top(row + 1) - top(row));
  }));
  if (atlasView.row < 0) return;
  context.strokeStyle = cssColor("--ring");
  context.lineWidth = 2 * ratio;
  context.strokeRect(left(atlasView.column), top(atlasView.row),
    Math.max(2, left(atlasView.column + 1) - left(atlasView.column)),
    Math.max(2, top(atlasView.row + 1) - top(atlasView.row)));
}

function tellCell(row, column) {
  const {rows, columns, cells} = sheet();
  atlasView.row = Math.max(0, Math.min(row, rows.length - 1));
  atlasView.column = Math.max(0, Math.min(column, columns.length - 1));
  document.getElementById("atlas-cell").textContent = `${rows[atlasView.row]} in ` +
    `${columns[atlasView.column]}: ${stepText(cells[atlasView.row][atlasView.column])}`;
  drawAtlas();
}

function chooseSheet(index) {
  atlasView.sheet = index;
  atlasView.row = atlasView.column = -1;
  document.getElementById("atlas-cell").textContent = "";
  document.getElementById("atlas-about").textContent = sheet().about;
  atlasCanvas.setAttribute("aria-label", `Atlas: ${sheet().about}`);
  drawAtlas();
}

function showAtlasLegend() {
  const steps = [0];
  // The first, the middle and the last of many.
  const many = atlas.priorities.length;
  for (const step of new Set([1, Math.ceil(many / 2), many])) if (step >= 1) steps.push(step);
  steps.push(many + 1);
  document.getElementById("atlas-legend").replaceChildren(...steps.flatMap((step) => {
    const mark = element("i");
    mark.style.background = stepColor(step);
    return [mark, step === 0 ? "nobody" : step > many ? "never fits" : `all up to ${atlas.priorities[step - 1]}`];
  }));
}

function startAtlas() {
  if (!atlas || atlas.sheets.length === 0) return;
  document.getElementById("atlas").hidden = false;
  document.body.classList.add("with-atlas");
  const sheets = document.getElementById("sheet");
  atlas.sheets.forEach((one, i) => sheets.append(element("option", one.name, {value: i})));
  document.getElementById("sheet-label").hidden = atlas.sheets.length < 2;
  sheets.addEventListener("change", () => chooseSheet(Number(sheets.value)));
  atlasCanvas.addEventListener("pointermove", (event) => {
    const at = atlasCanvas.getBoundingClientRect();
    tellCell(Math.floor((event.clientY - at.top) * sheet().rows.length / at.height),
      Math.floor((event.clientX - at.left) * sheet().columns.length / at.width));
  });
  atlasCanvas.addEventListener("keydown", (event) => {
    if (!(event.key in ARROWS)) return;
    const [dx, dy] = ARROWS[event.key];
    tellCell(atlasView.row + dy, atlasView.column + dx);
    event.preventDefault();
  });
  dark.addEventListener("change", () => { showAtlasLegend(); drawAtlas(); });
  showAtlasLegend();
  chooseSheet(0);
  new ResizeObserver(drawAtlas).observe(document.getElementById("atlas"));
}
