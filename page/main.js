// SPDX-License-Identifier: Apache-2.0
// Shows what the page is of.

const PAGES = { view: showViewer, ptex: showPtex, report: showReport, render: showRender, budget: showBudget, play: showPlay };
const data = JSON.parse(by("data").textContent);
document.body.className = data.page;
PAGES[data.page](data);
document.body.dataset.ready = "yes";
