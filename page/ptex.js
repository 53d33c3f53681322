// SPDX-License-Identifier: Apache-2.0
// Sheets of faces: which face is under the mouse, where a face and its neighbours are, larger and smaller.
const EDGES = ["bottom", "right", "top", "left"];

// A face is [x, y, w, h, log2 of u, log2 of v, flags, neighbours...]; -1: none.
function words(file, n) {
    const f = file.faces[n];
    const flags = ["constant", "edited", "neighbours of one colour", "subface"].filter((_, i) => f[6] >> i & 1);
    const neighbours = f.slice(7).map((other, e) => EDGES[e] + " " + (other < 0 ? "none" : other));
    return `face ${n}: ${2 ** f[4]} x ${2 ** f[5]} texels${flags.map(w => ", " + w).join("")}; ` + neighbours.join(", ");
}

function faceAt(file, x, y) {
    return file.faces.findIndex(f => x >= f[0] && x < f[0] + f[2] && y >= f[1] && y < f[1] + f[3]);
}

function showFaces(file, id) {
    const image = picture(id, "all faces"), sheet = el("div", { className: "sheet" }, image), text = el("p", { className: "face" });
    const number = el("input", { type: "number", min: 0, max: file.face_count - 1 });
    const zoom = el("select", {}, ...[1, 2, 4, 8].map(z => el("option", {}, z)));
    let chosen = -1;
    const scale = () => Number(zoom.value);

    function mark(n, kind) {
        const f = file.faces[n], box = document.createElement("div");
        box.className = "mark " + kind;
        [["left", f[0]], ["top", f[1]], ["width", f[2]], ["height", f[3]]].forEach(([name, px]) => {
            box.style[name] = px * scale() + "px";
        });
        sheet.append(box);
        return box;
    }
    function choose(n) {
        sheet.querySelectorAll(".mark").forEach(box => box.remove());
        chosen = n;
        if (!file.faces[n])
            return;
        file.faces[n].slice(7).filter(other => other >= 0).forEach(other => mark(other, "neighbour"));
        mark(n, "").scrollIntoView({block: "nearest", inline: "nearest"});
        text.textContent = words(file, n);
        number.value = n;
    }
    function place(event) {
        const box = image.getBoundingClientRect();
        return faceAt(file, (event.clientX - box.left) / scale(), (event.clientY - box.top) / scale());
    }
    function resize() {
        image.style.width = file.width * scale() + "px";
        choose(chosen);
    }
    zoom.addEventListener("change", resize);
    if (file.faces.length) {
        image.addEventListener("mousemove", event => {
            const n = place(event);
            if (n >= 0)
                text.textContent = words(file, n);
        });
        image.addEventListener("click", event => choose(place(event)));
        number.addEventListener("input", () => choose(Number(number.value)));
    }
    zoom.value = String([8, 4, 2, 1].find(s => file.width * s <= 1100) || 1);
    resize();
    return [el("p", {}, `All faces at level ${file.level}${file.level ? ", because larger ones do not fit into the page (--page-size)" : ""}. `,
               el("label", {}, "zoom ", zoom), " ", el("label", {}, "face ", number)), sheet, text];
}

// A file that could not be read has its reason in place of the sheet.
function showPtex({ files }) {
    documentOf("Ptex files", ...files.map((file, n) => section(`file-${n}`, null, el("h1", {}, file.file), ...(file.error
        ? [el("p", { className: "error" }, file.error.message)]
        : [el("p", {}, `${count(file.face_count, file.mesh === "quads" ? "quad" : "triangle")}, ${count(file.channels, "channel")} of ${file.data_type}, `
              + `${formatBytes(file.file_bytes)}; borders ${file.borders.join(", ")}`), ...showFaces(file, `faces-${n}`)]))));
}
