// SPDX-License-Identifier: Apache-2.0
// What all pages share: elements, texts of figures, tables, bars and charts. Every text becomes a text node, never markup,
// so that the names of files cannot do anything.

const by = id => document.getElementById(id);

function el(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter(c => c !== null && c !== undefined));
  return element;
}

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// ---- figures, as the program prints them ----

function formatBytes(n) {
  if (n < 1000) return `${Math.round(n)} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = n / 1000, unit = 0;
  for (; value >= 999.95 && unit < 3; unit++) value /= 1000;
  return `${value.toFixed(1)} ${units[unit]}`;
}

function formatSeconds(s) {
  const two = n => String(Math.floor(n)).padStart(2, "0");
  if (s < 0.1) return `${(s * 1000).toFixed(0)} ms`;
  if (s < 59.95) return `${s.toFixed(s < 10 ? 2 : 1)} s`;
  if (s < 3600) return `${Math.floor(Math.max(s, 60) / 60)} min ${two(Math.max(s, 60) % 60)} s`;
  return `${Math.floor(s / 3600)} h ${two(s % 3600 / 60)} min`;
}

const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const are = (n, noun) => `${count(n, noun)} ${n === 1 ? "is" : "are"}`;
const digits = (value, n) => String(+Number(value).toPrecision(n));
const share = (part, whole) => whole > 0 ? part / whole : 0;
const percentOf = (part, whole) => `${digits(100 * share(part, whole), 3)} %`;

// ---- documents ----

function documentOf(title, ...children) {
  document.title = title;
  document.body.append(el("main", {}, ...children));
}

function section(id, title, ...children) {
  return el("section", { id }, title ? el("h2", {}, title) : null, ...children);
}

// ---- tables: data-v of a cell is the number by which it is sorted, whatever it shows ----

function number(value, text = String(value), className = "n") {
  const cell = el("td", { className }, text);
  cell.dataset.v = value;
  return cell;
}

const bytes = n => number(n, formatBytes(n));
const seconds = s => number(s, formatSeconds(s));
const path = text => el("td", { className: "path" }, text);

// Bars are SVG, because the security policy forbids styles in attributes. `soft` is the end of the bright part.
function bar(part, label, soft = 0) {
  const rect = (className, width) => svg("rect", { class: className, width: `${(100 * Math.min(1, width)).toFixed(2)}%`, height: "100%", rx: 3 });
  return el("td", { className: "bar" }, svg("svg", { class: "bar", role: "img", "aria-label": label },
                                             rect("all", 1), rect("soft", soft), rect("part", part)));
}

function sortBy(header, column) {
  const table = header.closest("table"), body = table.tBodies[0];
  const down = header.getAttribute("aria-sort") !== "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const valueOf = cell => cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  const rows = [...body.rows].map(row => ({ row, value: valueOf(row.cells[column]) }));
  rows.sort((a, b) => {
    const order = typeof a.value === "number" ? a.value - b.value : a.value.localeCompare(b.value);
    return down ? -order : order;
  });
  body.append(...rows.map(entry => entry.row));
}

// Names of columns of numbers begin with #. A row is a list of cells; a text becomes one. The foot is not sorted.
function table(names, rows, { sortable = true, foot = null } = {}) {
  const row = cells => el("tr", {}, ...cells.map(c => c instanceof Node ? c : el("td", {}, c)));
  const heads = names.map((name, column) => {
    const plain = name.replace("#", ""), head = el("th", { className: name === plain ? "" : "n" });
    const button = el("button", { type: "button" }, plain);
    button.addEventListener("click", () => sortBy(head, column));
    head.append(sortable && plain ? button : plain);
    return head;
  });
  return el("div", { className: "scroll" },
            el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows.map(row)),
               foot ? el("tfoot", {}, row(foot)) : null));
}

// ---- charts ----

const CHART = { width: 760, height: 260, left: 86, right: 740, top: 40, bottom: 210 };

// Curves of values that are as far apart as `at`, from 0 to 1, says. They differ by dashes as well, for people who do not
// see all colours.
function chart({ title, curves, most, yText, xTexts, unit = "" }) {
  const { width, height, left, right, top, bottom } = CHART;
  const x = at => left + (right - left) * at, y = value => bottom - (bottom - top) * Math.min(1, value / most);
  const text = (at, down, anchor, words) => svg("text", { x: at, y: down, "text-anchor": anchor }, words);
  const out = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "font-size": 12, fill: "currentColor" },
                  svg("title", {}, title));
  for (let i = 0; i <= 4; i++) {
    const down = y(most * i / 4);
    out.append(svg("line", { x1: left, y1: down, x2: right, y2: down, stroke: "currentColor", "stroke-opacity": i ? 0.12 : 0.6 }),
               text(left - 8, down + 4, "end", yText(most * i / 4)));
  }
  out.append(text(left - 8, top - 18, "end", unit));
  xTexts.forEach((words, i) => out.append(text(x(i / (xTexts.length - 1)), bottom + 18, i ? i === xTexts.length - 1 ? "end" : "middle" : "start", words)));
  curves.forEach(({ name, color, dashes, points, about }, nth) => {
    const at = left + 150 * nth, line = { stroke: color, fill: "none", "stroke-width": 2, "stroke-dasharray": dashes };
    out.append(svg("polyline", { ...line, points: points.map(p => `${x(p.at).toFixed(1)},${y(p.value).toFixed(1)}`).join(" ") },
                   svg("title", {}, about)),
               svg("line", { ...line, x1: at, y1: 18, x2: at + 24, y2: 18 }), text(at + 30, 22, "start", name));
  });
  return out;
}

// A picture of the page; its bytes are in an element of their own.
function picture(id, alt = "") {
  return el("img", { alt, src: `data:image/png;base64,${by(id).textContent}` });
}
