// Only adds: the page is complete without this.
"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const link = document.getElementById("diagnosis").getAttribute("href");
  const diagnosis = JSON.parse(decodeURIComponent(link.slice(link.indexOf(",") + 1)));
  document.documentElement.classList.add("scripted");

  const button = (label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", async () => {
      try { made.textContent = await act(); } catch { made.textContent = "Not allowed here"; }
      setTimeout(() => { made.textContent = label; }, 1600);
    });
    return made;
  };
  const copy = (text) => async () => {
    if (navigator.clipboard) await navigator.clipboard.writeText(text());
    else fallback(text());
    return "Copied";
  };
  const fallback = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  const download = async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(diagnosis, null, 2) + "\n"], { type: "application/json" }));
    link.download = "diagnosis.json";
    link.click();
    URL.revokeObjectURL(link.href);
    return "Downloaded";
  };
  const printAll = async () => {
    const folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
    document.documentElement.classList.add("whole");
    print();
    document.documentElement.classList.remove("whole");
    for (const one of folded) one.open = false;
    return "Printed";
  };
  const tools = document.getElementById("tools");
  tools.append(button("Copy as Markdown", copy(() => read("ticket"))), button("Copy link", copy(() => location.href)),
    button("Download JSON", download), button("Print all", printAll));
  tools.hidden = false;

  for (const command of document.querySelectorAll(".command")) {
    command.append(button("Copy", copy(() => command.querySelector("code").textContent)));
  }

  for (const table of document.querySelectorAll("table.filterable")) {
    const rows = [...table.querySelectorAll("tbody tr")];
    if (rows.length < 24) continue;
    const field = document.createElement("input");
    field.type = "search";
    field.className = "filter";
    field.placeholder = `Filter ${rows.length} rows`;
    field.setAttribute("aria-label", field.placeholder);
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
    table.parentElement.before(field);
  }

  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.querySelector(":scope > details")?.setAttribute("open", "");
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();


  const nearest = (points, step) => points.reduce((a, b) => (Math.abs(b[0] - step) < Math.abs(a[0] - step) ? b : a));
  for (const plot of document.querySelectorAll("[data-plot]")) {
    const { plot: tag, left, right, first, last } = plot.dataset;
    const curves = diagnosis.workers.flatMap((w) => w.curves.filter((c) => c.tag === tag && c.points.length)
      .map((c) => [w.id, c.points]));
    const readout = [...document.querySelectorAll("[data-readout]")].find((r) => r.dataset.readout === tag);
    const cursor = plot.querySelector(".cursor");
    readout.hidden = false;
    readout.textContent = "\u00a0";
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * plot.viewBox.baseVal.width;
      const share = Math.min(Math.max((x - left) / (right - left), 0), 1);
      const step = nearest(curves[0][1], +first + share * (last - first))[0];
      const at = last === first ? (+left + +right) / 2 : +left + (step - first) / (last - first) * (right - left);
      cursor.setAttribute("x1", at);
      cursor.setAttribute("x2", at);
      cursor.setAttribute("visibility", "visible");
      readout.textContent = `Step ${step}`;
      for (const [worker, points] of curves.slice(0, 12)) {
        const value = nearest(points, step)[1];
        const part = document.createElement("b");
        part.textContent = `${worker} ${typeof value === "number" ? +value.toPrecision(5) : value}`;
        readout.append(part);
      }
    });
    plot.addEventListener("pointerleave", () => cursor.setAttribute("visibility", "hidden"));
  }
})();
