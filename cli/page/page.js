"use strict";
const report = JSON.parse(document.getElementById("data").textContent);
const steps = report.steps || [], segments = report.segments || [], buffers = report.buffers || [];
const memories = [["fast", "fast memory"], ["slow", "slow memory"], ["state", "state"], ["flash", "flash"]];

/* ---- small tools: every text goes through text nodes and attributes, never through markup ---- */

const byId = (id) => document.getElementById(id);

/* Names as they can be read: control and direction characters by their numbers. */
function visible(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "style") for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const count = (n) => Math.round(n).toLocaleString("en-US");
const bytes = (n) => count(n) + (n === 1 ? " byte" : " bytes");
const share = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(part * 10 < whole ? 1 : 0) + "%" : "–";

function short(n) {
  if (n >= 1e9) return (n / 1e9).toFixed(2) + " G";
  if (n >= 1e6) return (n / 1e6).toFixed(n >= 1e7 ? 1 : 2) + " M";
  if (n >= 1e4) return (n / 1e3).toFixed(n >= 1e5 ? 0 : 1) + " k";
  return count(n);
}

const kilobytes = (n) => n >= 1024 ? +(n / 1024).toFixed(n >= 102400 ? 0 : 1) + " KB" : n + " B";
/* Long names by their two ends. */
const brief = (text, most = 44) => text.length <= most ? text : text.slice(0, most / 2 - 2) + "…" + text.slice(text.length - most / 2 + 1);
const isAre = (n, one, many) => count(n) + " " + (n === 1 ? one : many);
const bandOf = (g) => g.band_columns ? isAre(g.band_columns, "column", "columns") : isAre(g.band_rows, "row", "rows");
const shapeOf = (s) => s.shape.length ? s.shape.join("×") : "scalar";
const nameOf = (s) => visible(s.name) || s.operator;
const classOf = (b) => b.use.replace(" ", "-");
const hueOf = (i) => (i * 137.508 + 168) % 360;
const isLive = (b, step) => b.first_step <= step && step <= b.last_step;
const read = (s, m) => s.traffic[m].read, written = (s, m) => s.traffic[m].written;
const sum = (list, of) => list.reduce((total, one) => total + of(one), 0);

/* ---- head and tiles ---- */

function showHead() {
  byId("brand").textContent = "tilewright " + report.version;
  byId("name").textContent = visible(report.model) || "a network";
  const parts = [isAre(steps.length, "step", "steps") + " in " + isAre(segments.length, "segment", "segments")];
  if (report.parameters) parts.push(count(report.parameters) + " parameters");
  if (report.file) parts.push("from " + visible(report.file) + (report.format ? " (" + visible(report.format) + ")" : ""));
  if (report.options) parts.push("planned with " + (report.layerwise ? "-m " : "") + visible(report.options));
  const ends = (list) => list.map((t) => visible(t.name) + " " + shapeOf(t) + " " + t.dtype).join(", ");
  byId("lede").textContent = parts.join(" · ") + ". In: " + ends(report.inputs) + ". Out: " + ends(report.outputs) + ".";
}

function tile(title, big, unit, parts, sub) {
  const whole = sum(parts, (p) => p[1]);
  const stack = el("div", {class: "stack", role: "img", "aria-label": parts.map((p) => p[0] + " " + bytes(p[1])).join(", ")},
    ...parts.map(([, n], i) => el("span", {style: {width: 100 * n / (whole || 1) + "%", background: "var(--accent)", opacity: 1 - i * .27}})));
  byId("tiles").append(el("div", {class: "tile"}, el("dt", null, title),
    el("dd", {class: "big"}, big, el("small", null, " " + unit)),
    parts.length ? el("dd", null, stack) : null, ...sub.map((s) => el("dd", {class: "sub"}, s))));
}

function showTiles() {
  const m = report.memory, f = report.flash, list = (parts) => parts.filter((p) => p[1]).map((p) => p[0] + " " + count(p[1])).join(", ");
  const ram = [["activations", m.activations], ["scratch", m.scratch], ["state", m.state], ["context", m.context]];
  tile("RAM", count(m.total), "bytes", ram, [list(ram)]);
  if (report.layerwise)
    tile("Against layer by layer", share(m.activations, report.layerwise), "of the activations",
      [], ["layer by layer, nothing in place: " + count(report.layerwise), "smallest budget that works: " + count(report.smallest_budget)]);
  if (report.slow.bytes)
    tile("Slow memory", count(report.slow.bytes), "of these bytes", [],
      [count(report.slow.traffic_read) + " read, " + count(report.slow.traffic_written) + " written a run"]);
  const flash = [["weights", f.weights], ["plan", f.plan]];
  tile("Flash", count(f.total), "bytes", flash, [list(flash)]);
  tile("Work", short(report.macs + report.macs_recomputed), "MACs", [],
    [report.macs_recomputed ? count(report.macs_recomputed) + " of them again" : "nothing computed twice", count(report.calls) + " calls of kernels"]);
  const clock = el("input", {type: "number", min: 1, max: 5000, value: 100, id: "clock", "aria-label": "Clock in megahertz"});
  const time = el("span");
  tile("Estimated time", time, "", [], [el("span", null, "at ", clock, " MHz"), short(report.cycles) + " cycles of a small core"]);
  const show = () => {
    const ms = report.cycles / (Math.max(1, +clock.value || 100) * 1000);
    time.textContent = ms >= 1000 ? (ms / 1000).toFixed(2) + " s" : ms >= 10 ? ms.toFixed(0) + " ms" : ms.toFixed(2) + " ms";
  };
  clock.addEventListener("input", show);
  show();
}

/* ---- the picture ---- */

const view = {chosen: report.limits.step || 0, lit: -1, byTime: false, x: [], columns: [], rects: new Map()};
const left = 74, barHeight = 34;

/* Where each step begins: equal columns, or as wide as its time, but never too narrow to see. */
function layOut(room) {
  const least = steps.length > 300 ? 3 : steps.length > 100 ? 7 : 12;
  const wide = Math.max(room, least * steps.length), spare = wide - (view.byTime ? 4 : 0) * steps.length;
  view.x = [left];
  for (const s of steps)
    view.x.push(view.x[view.x.length - 1] + (view.byTime ? 4 + spare * s.cycles / (report.cycles || 1) : wide / steps.length));
  return view.x[steps.length];
}

function ticks(top) {
  const raw = top / 5, unit = 2 ** Math.floor(Math.log2(raw || 1)), step = raw / unit > 1.5 ? 2 * unit : unit, list = [];
  for (let n = 0; n <= top; n += step) list.push(n);
  return list;
}

const pen = document.createElement("canvas").getContext("2d");
pen.font = "11.5px " + getComputedStyle(document.body).fontFamily;

/* A label cut to the pixels there are for it: its two ends, nothing where four characters do not fit. */
function fit(text, room) {
  const wide = pen.measureText(text).width;
  if (wide <= room) return text;
  for (let most = Math.floor(text.length * room / wide); most >= 4; most--) {
    const ends = text.slice(0, Math.ceil(most / 2) - 1) + "…" + text.slice(text.length - Math.floor(most / 2) + 1);
    if (pen.measureText(ends).width <= room) return ends;
  }
  return "";
}

/* The first of several wordings for which there is room. */
const fitOne = (texts, room) => texts.find((text) => pen.measureText(text).width <= room) || fit(texts[0], room);

function drawBrackets(svg, top, bottom) {
  for (const g of segments) {
    if (g.kind !== "rolling") continue;
    const a = view.x[g.first_step] + 1.5, b = view.x[g.first_step + g.step_count] - 1.5;
    svg.append(draw("rect", {class: "band", x: a, y: top, width: Math.max(1, b - a), height: bottom - top}),
      draw("path", {class: "bracket", d: `M${a} ${top - 4}v-5H${b}v5`}));
    const band = bandOf(g), label = fitOne(["rolls by " + band, band, band.split(" ")[0]], (b - a) / 1.12);
    if (label) svg.append(draw("text", {class: "bracket-label", x: (a + b) / 2, y: top - 14, "text-anchor": "middle"}, label));
  }
}

/* The widest stretch of addresses of a buffer that no later one is painted over. */
function bare(b, later) {
  let stretches = [[b.offset, b.offset + b.bytes]];
  for (const c of later)
    if (c.first_step <= b.last_step && b.first_step <= c.last_step)
      stretches = stretches.flatMap(([low, high]) => [[low, Math.min(high, c.offset)], [Math.max(low, c.offset + c.bytes), high]].filter(([p, q]) => q > p));
  return stretches.reduce((most, one) => one[1] - one[0] > most[1] - most[0] ? one : most, [0, 0]);
}

function drawBuffers(svg, memory, y) {
  const shown = buffers.map((b, i) => [b, i]).filter(([b]) => b.memory === memory && b.bytes).sort((p, q) => q[0].bytes - p[0].bytes);
  shown.forEach(([b, i], place) => {
    const x = view.x[b.first_step], width = Math.max(1, view.x[Math.min(b.last_step, steps.length - 1) + 1] - x);
    const low = y(b.offset), height = Math.max(1, low - y(b.offset + b.bytes));
    const rect = draw("rect", {class: "buffer " + classOf(b) + (b.input || b.output ? " end" : ""), x: x + .75, y: low - height + .5,
      width: Math.max(1, width - 1.5), height: Math.max(1, height - 1), rx: Math.min(3, height / 3), style: {"--h": hueOf(i)}});
    view.rects.set(i, rect);
    svg.append(rect);
    const name = b.use === "activation" || b.use === "state" ? visible(b.name) : b.use, size = "  " + kilobytes(b.bytes);
    const [from, to] = height < 15 ? [0, 0] : bare(b, shown.slice(place + 1, place + 41).map(([c]) => c));
    const label = y(from) - y(to) < 15 ? "" : pen.measureText(name + size).width <= width - 13 ? name + size : fit(name, width - 13);
    if (label) svg.append(draw("text", {class: "buffer-label", x: x + 7, y: (y(from) + y(to)) / 2 + 4, style: {"--h": hueOf(i)}}, label));
  });
}

/* A column a step, over everything: what is pointed at and what has the focus. */
function drawSteps(svg, top, bottom, first) {
  const group = draw("g", {role: "listbox", "aria-label": "Steps", "aria-describedby": "picture-hint"});
  steps.forEach((s, i) => {
    const column = draw("rect", {class: "step", role: "option", tabindex: -1, "data-step": i, x: view.x[i], y: top,
      width: Math.max(1, view.x[i + 1] - view.x[i]), height: bottom - top,
      "aria-label": `Step ${i} of ${steps.length}: ${nameOf(s)}, ${s.operator}, ${count(s.live)} bytes live`});
    (view.columns[i] = view.columns[i] || []).push(column);
    group.append(column);
  });
  if (!first) group.setAttribute("aria-hidden", "true");
  svg.append(group);
}

function drawTimes(svg, top) {
  const most = Math.max(...steps.map((s) => s.cycles), 1);
  svg.append(draw("text", {x: left - 10, y: top + barHeight - 4, "text-anchor": "end"}, "time"));
  steps.forEach((s, i) => {
    const h = Math.max(1, (barHeight - 6) * s.cycles / most), w = view.x[i + 1] - view.x[i];
    svg.append(draw("rect", {class: "timebar", x: view.x[i] + .5, y: top + barHeight - h, width: Math.max(.5, w - 1), height: h}));
  });
}

function drawNumbers(svg, y) {
  let end = -1;
  steps.forEach((s, i) => {
    const x = (view.x[i] + view.x[i + 1]) / 2, half = 4 * String(i).length;
    if (x - half < end) return;
    svg.append(draw("text", {x, y, "text-anchor": "middle"}, i));
    end = x + half + 9;
  });
}

function drawPlot(memory, title, room, first) {
  const top = Math.max(...buffers.filter((b) => b.memory === memory).map((b) => b.offset + b.bytes), 0);
  if (!top || !steps.length) return null;
  const width = view.x[steps.length] + 10, head = 34, height = first ? Math.min(460, Math.max(280, room * .5)) : 170;
  const bottom = head + height, y = (n) => bottom - height * n / top, last = bottom + (first ? barHeight : 0);
  const svg = draw("svg", {width, height: last + 24, viewBox: `0 0 ${width} ${last + 24}`, role: "group", "aria-label": title});
  for (const n of ticks(top))
    svg.append(draw("line", {class: "gridline", x1: left, x2: width - 10, y1: y(n), y2: y(n)}),
      draw("text", {x: left - 10, y: y(n) + 4, "text-anchor": "end"}, kilobytes(n)));
  drawBrackets(svg, head, bottom);
  drawBuffers(svg, memory, y);
  if (first) {
    const at = (view.x[report.limits.step] + view.x[report.limits.step + 1]) / 2, late = at > width - 150;
    svg.append(draw("line", {class: "fullest", x1: at, x2: at, y1: head - 2, y2: last}));
    if (segments.every((g) => g.kind !== "rolling" || view.x[g.first_step] > at + 60 || view.x[g.first_step + g.step_count] < at - 60))
      svg.append(draw("text", {class: "fullest-label", x: late ? at - 5 : at + 5, y: head - 8, "text-anchor": late ? "end" : "start"}, "fullest"));
    drawTimes(svg, bottom);
  }
  svg.append(draw("line", {class: "axis", x1: left, x2: width - 10, y1: bottom, y2: bottom}));
  drawSteps(svg, head, last, first);
  drawNumbers(svg, last + 17);
  svg.addEventListener("pointermove", (event) => point(event, svg, memory, top, head, height));
  svg.addEventListener("pointerleave", hideTip);
  return el("div", {class: "plot"}, el("h3", null, title + ", " + bytes(top)), svg);
}

function drawPicture() {
  const room = byId("charts").parentElement.clientWidth - left - 14, hadFocus = byId("charts").contains(document.activeElement);
  view.columns = [];
  view.rects = new Map();
  layOut(Math.max(room, 180));
  const plots = memories.filter(([m]) => m !== "flash").map(([m, title], i) => drawPlot(m, title[0].toUpperCase() + title.slice(1), room, i === 0));
  byId("charts").replaceChildren(...plots.filter(Boolean));
  choose(view.chosen, hadFocus);
}

/* ---- tooltip ---- */

function tip(x, y, lines) {
  const box = byId("tip");
  box.replaceChildren(el("b", null, lines[0]), ...lines.slice(1).map((line) => el("span", null, line, el("br"))));
  box.hidden = false;
  const w = box.offsetWidth, h = box.offsetHeight;
  box.style.left = Math.max(8, Math.min(x + 14, innerWidth - w - 8)) + "px";
  box.style.top = (y + 18 + h > innerHeight ? Math.max(8, y - h - 12) : y + 18) + "px";
}

function hideTip() {
  byId("tip").hidden = true;
}

const linesOfBuffer = (b) => [b.use === "activation" || b.use === "state" ? visible(b.name) || b.use : b.use === "context" ? "row counters" : b.use + (b.name ? " of " + visible(b.name) : ""),
  bytes(b.bytes) + " at " + count(b.offset) + " in " + b.memory + " memory",
  b.first_step === b.last_step ? "at step " + b.first_step : `steps ${b.first_step} to ${b.last_step}`];

const linesOfStep = (s, i) => [`${i}  ${nameOf(s)}`, s.operator + ", " + shapeOf(s), bytes(s.live) + " live, " + share(s.cycles, report.cycles) + " of the time"];

function point(event, svg, memory, top, head, height) {
  const box = svg.getBoundingClientRect(), x = event.clientX - box.left, address = top * (head + height - (event.clientY - box.top)) / height;
  const step = view.x.findIndex((at, i) => i < steps.length && at <= x && x < view.x[i + 1]);
  if (step < 0) return hideTip();
  let under = null;
  for (const b of buffers)
    if (b.memory === memory && isLive(b, step) && b.offset <= address && address < b.offset + b.bytes && (!under || b.bytes < under.bytes)) under = b;
  tip(event.clientX, event.clientY, under ? [...linesOfBuffer(under), linesOfStep(steps[step], step)[0]] : linesOfStep(steps[step], step));
}

/* ---- the chosen step ---- */

const liveAt = (step) => buffers.map((b, i) => [b, i]).filter(([b]) => b.bytes && isLive(b, step)).sort((p, q) => q[0].bytes - p[0].bytes);

function light(index) {
  view.lit = index;
  for (const [i, rect] of view.rects) rect.classList.toggle("lit", i === index);
  for (const button of document.querySelectorAll(".lives button")) button.classList.toggle("lit", +button.dataset.buffer === index);
}

function facts(s) {
  const list = [["output", shapeOf(s) + " " + s.dtype], ["rows a call", count(s.band_rows) + " × " + count(s.calls) + (s.calls === 1 ? " call" : " calls")],
    ["multiply-accumulates", count(s.macs)], ["estimated time", short(s.cycles) + " cycles, " + share(s.cycles, report.cycles)]];
  for (const [m, title] of memories)
    if (read(s, m) || written(s, m)) list.push([title, count(read(s, m)) + " read" + (written(s, m) ? ", " + count(written(s, m)) + " written" : "")]);
  if (s.scratch) list.push(["scratch", bytes(s.scratch)]);
  return el("dl", {class: "facts"}, ...list.flatMap(([key, value]) => [el("dt", null, key), el("dd", null, value)]));
}

function choose(step, focus) {
  if (!steps.length) return;
  view.chosen = Math.max(0, Math.min(steps.length - 1, step));
  const s = steps[view.chosen];
  view.columns.forEach((list, i) => list.forEach((column, k) => {
    column.classList.toggle("chosen", i === view.chosen);
    column.setAttribute("aria-selected", i === view.chosen);
    column.setAttribute("tabindex", i === view.chosen && k === 0 ? 0 : -1);
  }));
  const g = segments[s.segment], lives = liveAt(view.chosen);
  byId("detail").replaceChildren(el("p", {class: "op"}, `Step ${view.chosen} · ${s.operator}` + (s.backend ? " · " + s.backend : "")), el("h3", {title: nameOf(s)}, el("bdi", null, brief(nameOf(s), 72))), facts(s),
    el("h4", null, "Live here: " + bytes(s.live) + (g && g.kind === "rolling" ? ", in a rolling segment of " + isAre(g.step_count, "step", "steps") : "")),
    el("ul", {class: "lives"}, ...lives.map(([b, i]) => {
      const button = el("button", {type: "button", "data-buffer": i}, el("span", {class: "swatch " + classOf(b), style: {"--h": hueOf(i)}}),
        el("bdi", {class: "what"}, linesOfBuffer(b)[0]), el("span", null, count(b.bytes)));
      button.addEventListener("mouseenter", () => light(i));
      button.addEventListener("focus", () => light(i));
      return el("li", null, button);
    })));
  light(-1);
  for (const row of document.querySelectorAll("#steps tbody tr")) row.classList.toggle("chosen", +row.dataset.step === view.chosen);
  if (!focus) return;
  const column = view.columns[view.chosen][0];
  column.focus({preventScroll: true});
  column.scrollIntoView({block: "nearest", inline: "nearest"});
}

/* Up and down go through what lives at the step, the largest first. */
function walk(by) {
  const lives = liveAt(view.chosen), at = lives.findIndex(([, i]) => i === view.lit);
  if (!lives.length) return;
  const [b, i] = lives[(at + by + (at < 0 && by < 0 ? 1 : 0) + lives.length) % lives.length];
  light(i);
  const rect = view.rects.get(i), box = rect ? rect.getBoundingClientRect() : view.columns[view.chosen][0].getBoundingClientRect();
  const column = view.columns[view.chosen][0].getBoundingClientRect();
  tip(column.left + column.width / 2, box.top + box.height / 2, linesOfBuffer(b));
  const entry = document.querySelector(`.lives button[data-buffer="${i}"]`);
  if (entry) entry.scrollIntoView({block: "nearest"});
}

function onKey(event) {
  const far = Math.max(1, Math.round(steps.length / 10));
  const moves = {ArrowRight: 1, ArrowLeft: -1, PageDown: far, PageUp: -far, Home: -steps.length, End: steps.length};
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in moves) {
    choose(view.chosen + moves[event.key], true);
    const box = view.columns[view.chosen][0].getBoundingClientRect();
    tip(box.left + box.width / 2, box.top + 20, linesOfStep(steps[view.chosen], view.chosen));
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") walk(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Escape") { hideTip(); light(-1); }
  else if (event.key === "Enter" || event.key === " ") {
    const button = document.querySelector(`#steps button[data-step="${view.chosen}"]`);
    if (button) button.focus();
  } else return;
  event.preventDefault();
}

function showLegend() {
  const has = (use) => buffers.some((b) => b.use === use && b.bytes);
  const items = [["", "an activation, a colour each"], ["end", "input or output"], ["scratch", "scratch"], ["step-memory", "accumulators and other step memory"], ["context", "row counters"], ["plain", "estimated time of the step"]];
  for (const [kind, text] of items)
    if (!["scratch", "step-memory", "context"].includes(kind) || has(kind.replace("-", " ")))
      byId("legend").append(el("li", null, el("span", {class: "swatch " + kind, style: {"--h": 168}}), text));
}

/* ---- limits, traffic, budgets ---- */

function showLimits() {
  const at = report.limits.step, s = steps[at], box = byId("limits");
  if (!s) return;
  const largest = report.limits.largest.map((i) => buffers[i]).map((b) => brief(linesOfBuffer(b)[0]) + " " + count(b.bytes));
  box.append(el("p", {class: "limit"}, "Memory is fullest at ", el("strong", null, "step " + at), ", ", el("bdi", {title: nameOf(s)}, brief(nameOf(s))), " (" + s.operator + "). Largest there: ", el("bdi", null, largest.join(", ")), "."));
  const list = report.limits.lower.map((r) => r.name !== undefined
    ? el("li", null, el("code", null, r.option + " " + visible(r.name)), " – it is there whole, with " + bytes(r.bytes) + "; the firmware could pass it row by row")
    : el("li", null, el("code", null, r.option === "-m" ? "-m " + r.bytes : r.option), " – would take " + bytes(r.bytes)));
  if (report.slow.bytes && report.smallest_budget) list.push(el("li", null, el("code", null, "-m " + report.smallest_budget), " – needs no slow memory"));
  if (report.bound && report.bound < report.memory.total - report.slow.bytes)
    list.push(el("li", null, "No assignment of addresses can go below " + bytes(report.bound) + " in this order."));
  if (!list.length) list.push(el("li", null, "No option is known that would lower this plan."));
  box.append(el("ul", {class: "plain"}, ...list));
}

function showTraffic() {
  const rows = memories.filter(([m]) => report.traffic[m].read || report.traffic[m].written);
  const most = Math.max(...rows.map(([m]) => report.traffic[m].read + report.traffic[m].written), 1);
  byId("traffic").append(el("p", {class: "hint"}, "Bytes that kernels are given to read and to write; weights are read from flash at every call."),
    el("table", null, el("thead", null, el("tr", null, ...["memory", "read", "written", ""].map((t, i) => el("th", {class: i ? null : "left", scope: t ? "col" : null}, el("span", null, t))))),
      el("tbody", null, ...rows.map(([m, title]) => el("tr", null, el("th", {class: "left", scope: "row"}, title), el("td", null, count(report.traffic[m].read)),
        el("td", null, count(report.traffic[m].written)), el("td", {class: "left"}, meter(report.traffic[m].read + report.traffic[m].written, most)))))));
}

function showBudgets() {
  const points = report.pareto || [];
  if (points.length < 2) return;
  byId("budget").hidden = false;
  const box = byId("budget-chart"), width = Math.max(260, box.clientWidth), height = 190, low = points[0].budget, high = points[points.length - 1].budget;
  const most = Math.max(...points.map((p) => p.cost), 1.02), x = (n) => 62 + (width - 92) * (Math.log(n) - Math.log(low)) / (Math.log(high) - Math.log(low) || 1);
  const y = (c) => 14 + (height - 48) * (most - c) / (most - 1), fast = report.memory.total - report.slow.bytes;
  let here = 0;
  points.forEach((p, i) => { if (Math.abs(p.budget - fast) < Math.abs(points[here].budget - fast)) here = i; });
  const svg = draw("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "Cost of a run by budget: " + points.map((p) => bytes(p.budget) + " " + p.cost.toFixed(3)).join("; ")});
  for (const c of [1, (1 + most) / 2, most])
    svg.append(draw("line", {class: "gridline", x1: 62, x2: width - 20, y1: y(c), y2: y(c)}), draw("text", {x: 54, y: y(c) + 4, "text-anchor": "end"}, "×" + c.toFixed(2)));
  let end = -1;
  points.forEach((p, i) => {
    const label = kilobytes(p.budget), half = label.length * 3.4;
    if (x(p.budget) - half > end || i === points.length - 1 && x(p.budget) - half > end) {
      svg.append(draw("text", {x: x(p.budget), y: height - 8, "text-anchor": "middle"}, label));
      end = x(p.budget) + half + 10;
    }
  });
  svg.append(draw("path", {class: "curve", d: points.map((p, i) => (i ? `H${x(p.budget)}V` : `M${x(p.budget)} `) + y(p.cost)).join("")}));
  points.forEach((p, i) => svg.append(draw("circle", {class: i === here ? "point here" : "point", cx: x(p.budget), cy: y(p.cost), r: 5},
    draw("title", null, bytes(p.budget) + ": " + p.cost.toFixed(3)))));
  box.replaceChildren(svg);
}

/* ---- tables ---- */

const meter = (part, whole) => el("span", {class: "meter", "aria-hidden": "true"}, el("i", {style: {width: 100 * part / (whole || 1) + "%"}}));
const cut = (text) => el("span", {class: "cut", title: text}, el("bdi", null, text));

/* Columns: [title, value to sort by, cell or null, left]. */
function buildTable(table, columns, rows, foot, onRow) {
  const body = el("tbody"), heads = columns.map(([title, , , isLeft]) => {
    const button = el("button", {type: "button"}, title);
    return el("th", {scope: "col", class: isLeft ? "left" : null, "aria-sort": "none"}, button);
  });
  const order = (column, down) => {
    const of = columns[column][1], sorted = rows.map((row, i) => [row, i]).sort((p, q) => {
      const a = of(...p), b = of(...q), way = typeof a === "string" ? a.localeCompare(b, "en") : a - b;
      return (down ? -way : way) || p[1] - q[1];
    });
    heads.forEach((h, i) => h.setAttribute("aria-sort", i !== column ? "none" : down ? "descending" : "ascending"));
    body.replaceChildren(...sorted.map(([row, i]) => lines[i]));
  };
  const lines = rows.map((row, i) => {
    const line = el("tr", null, ...columns.map(([, of, cell, isLeft], c) =>
      el(c ? "td" : "th", {class: isLeft ? "left" : null, scope: c ? null : "row"}, cell ? cell(row, i) : count(of(row, i)))));
    if (onRow) onRow(line, row, i);
    return line;
  });
  heads.forEach((h, i) => h.firstChild.addEventListener("click", () =>
    order(i, h.getAttribute("aria-sort") === "none" ? !columns[i][3] && i > 0 : h.getAttribute("aria-sort") === "ascending")));
  table.replaceChildren(el("thead", null, el("tr", null, ...heads)), body);
  if (foot) table.append(el("tfoot", null, el("tr", null, ...foot.map((text, i) => el(i ? "td" : "th", {scope: i ? null : "row", class: columns[i][3] ? "left" : null}, text)))));
  order(0, false);
}

const goTo = (step) => {
  choose(step, true);
  byId("picture").scrollIntoView({block: "nearest"});
};

const stepButton = (text, step) => {
  const button = el("button", {type: "button", "data-step": step, "aria-label": `Show step ${step} in the picture`}, text);
  button.addEventListener("click", () => goTo(step));
  return button;
};

function showSegments() {
  const of = (g) => steps.slice(g.first_step, g.first_step + g.step_count), time = (g) => sum(of(g), (s) => s.cycles);
  buildTable(byId("segments"), [
    ["segment", (g, i) => i, (g, i) => String(i)],
    ["steps", (g) => g.first_step, (g) => stepButton(g.step_count === 1 ? g.first_step : g.first_step + " – " + (g.first_step + g.step_count - 1), g.first_step), true],
    ["runs", (g) => g.kind, (g) => el("span", {class: "pill " + g.kind}, g.kind), true],
    ["from", (g) => nameOf(steps[g.first_step]), (g) => cut(nameOf(steps[g.first_step])), true],
    ["to", (g) => nameOf(steps[g.first_step + g.step_count - 1]), (g) => cut(nameOf(steps[g.first_step + g.step_count - 1])), true],
    ["axis", (g) => g.axis], ["by", (g) => g.band_columns || g.band_rows, bandOf], ["calls", (g) => sum(of(g), (s) => s.calls)], ["peak bytes", (g) => g.bytes],
    ["flash read", (g) => sum(of(g), (s) => read(s, "flash"))],
    ["est. time", time, (g) => el("span", null, share(time(g), report.cycles), meter(time(g), report.cycles))],
  ], segments, null, null);
}

function showSteps() {
  const most = Math.max(...steps.map((s) => s.cycles), 1), full = Math.max(...steps.map((s) => s.live), 1), slow = report.slow.bytes > 0;
  const ram = (s) => read(s, "fast") + read(s, "state"), ramWritten = (s) => written(s, "fast") + written(s, "state");
  const columns = [
    ["step", (s, i) => i, (s, i) => stepButton(i, i)],
    ["name", (s) => nameOf(s), (s) => cut(nameOf(s)), true], ["operator", (s) => s.operator, (s) => s.operator, true],
    ["output", (s) => s.shape.reduce((a, b) => a * b, 1), (s) => shapeOf(s) + " " + s.dtype, true], ["segment", (s) => s.segment], ["rows", (s) => s.band_rows], ["calls", (s) => s.calls],
    ["MACs", (s) => s.macs], ["est. cycles", (s) => s.cycles, (s) => el("span", null, short(s.cycles), meter(s.cycles, most))],
    ["live bytes", (s) => s.live, (s) => el("span", null, count(s.live), meter(s.live, full))], ["RAM read", ram], ["RAM written", ramWritten],
  ];
  const foot = ["all", "", "", "", "", "", count(report.calls), count(report.macs + report.macs_recomputed), short(report.cycles), count(full), count(sum(steps, ram)), count(sum(steps, ramWritten))];
  if (slow) {
    columns.push(["slow read", (s) => read(s, "slow")], ["slow written", (s) => written(s, "slow")]);
    foot.push(count(report.slow.traffic_read), count(report.slow.traffic_written));
  }
  columns.push(["flash read", (s) => read(s, "flash")], ["weights", (s) => s.constants]);
  foot.push(count(report.traffic.flash.read), count(sum(steps, (s) => s.constants)));
  byId("steps-hint").textContent = "Sort by a column's title. Times are estimates from a table of cycles a multiply-accumulate or element, for comparing steps.";
  buildTable(byId("steps"), columns, steps, foot, (line, s, i) => {
    line.dataset.step = i;
    line.addEventListener("click", (event) => { if (event.target.tagName !== "BUTTON") choose(i, false); });
  });
}

/* ---- all of it ---- */

showHead();
showTiles();
showLegend();
showSegments();
showSteps();
showLimits();
showTraffic();
drawPicture();
showBudgets();
byId("foot").textContent = "Written by tilewright " + report.version + ". Every address and number of bytes is what the firmware uses; times are estimates. One file, nothing loaded from elsewhere.";
byId("charts").addEventListener("keydown", onKey);
byId("charts").addEventListener("focusout", hideTip);
byId("charts").addEventListener("click", (event) => { if (event.target.dataset.step) choose(+event.target.dataset.step, true); });
for (const radio of document.querySelectorAll("input[name=width]"))
  radio.addEventListener("change", () => { view.byTime = radio.value === "time" && radio.checked; drawPicture(); });
let width = 0;
new ResizeObserver(([entry]) => {
  if (Math.abs(entry.contentRect.width - width) < 1) return;
  if (width) { drawPicture(); showBudgets(); }
  width = entry.contentRect.width;
}).observe(document.querySelector("main"));
