// SPDX-License-Identifier: Apache-2.0
// Sorts tables, and scales the memory by the share of visible tiles. The page is complete without this script.
"use strict";

function valueOf(cell) {
    const number = cell.dataset.v;
    return number === undefined ? cell.textContent : Number(number);
}

function sortBy(header, column) {
    const table = header.closest("table"), body = table.tBodies[0];
    const down = header.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells)
        other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map(row => ({row, value: valueOf(row.cells[column])}));
    rows.sort((a, b) => {
        const order = typeof a.value === "number" ? a.value - b.value : a.value.localeCompare(b.value);
        return down ? -order : order;
    });
    body.append(...rows.map(entry => entry.row));
}

for (const table of document.querySelectorAll("table.sort")) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = header.textContent;
        button.addEventListener("click", () => sortBy(header, column));
        header.replaceChildren(button);
    });
}

// As the program prints them: powers of 1000, one decimal.
function bytes(value) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    while (value >= 999.95 && unit < units.length - 1) {
        value /= 1000;
        unit++;
    }
    return unit ? value.toFixed(1) + " " + units[unit] : Math.round(value) + " B";
}

const share = document.getElementById("share");
if (share) {
    share.closest("label").hidden = false;
    share.addEventListener("input", () => {
        const part = Number(share.value) / 100;
        document.getElementById("share-text").textContent = share.value + " %";
        for (const row of document.querySelectorAll("tr[data-bytes]")) {
            const size = Number(row.dataset.bytes) * part, of = size / Number(row.dataset.full);
            row.querySelector(".size").textContent = bytes(size);
            row.querySelector(".saved").textContent = (100 * (1 - of)).toFixed(1) + " %";
            row.querySelector("rect.part").setAttribute("width", Math.min(100, 100 * of) + "%");
        }
    });
}
