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
  tools.append(button("Copy Markdown", copy(() => read("ticket"))), button("Copy link", copy(() => location.href)),
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

  const among = (x, least, most) => Math.min(Math.max(x, least), most);
  const shape = (name, attributes, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };
  const shown = (element, yes) => (yes ? element.removeAttribute("display") : element.setAttribute("display", "none"));

  // The timeline: zoom with buttons, keys or by dragging; show only some workers.
  const timeline = (svg) => {
    const [left, right, top, pitch] = ["left", "right", "top", "pitch"].map((name) => +svg.dataset[name]);
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const lanes = [...svg.querySelectorAll(".lane")].map((lane, place) => ({
      lane, place, name: lane.querySelector(".name").textContent, ended: lane.querySelector(".ended"),
      told: lane.querySelector(".ended").textContent,
    }));
    const spans = [...svg.querySelectorAll(".moment, .life, .hush, .silent, .steps, .pause rect")].map((one) => {
      const [start, size] = one.tagName === "rect" ? ["x", "width"] : ["x1", "x2"];
      const first = +one.getAttribute(start);
      return { one, start, size, first, last: +one.getAttribute(size) + (size === "width" ? first : 0) };
    });
    const marks = [...svg.querySelectorAll(".at")].map((one) => ({ one, x: +one.dataset.x, time: one.dataset.time }));
    const numbers = lanes.map(({ lane }) => [...lane.querySelectorAll(".n")]
      .map((one) => ({ one, x: +one.getAttribute("x"), crowded: one.classList.contains("crowded") })));
    if (lanes.length <= 4 && marks.length <= 12) return;
    const ticks = svg.querySelector(".ticks");
    const usual = [...ticks.childNodes];
    let [from, to] = [left, right];
    const at = (x) => left + (x - from) / (to - from) * (right - left);
    const visible = (x) => x >= from && x <= to;

    const drawTicks = () => {
      if (from === left && to === right) return ticks.replaceChildren(...usual);
      let last = -300;
      const made = [];
      for (const { x, time } of marks.filter((mark) => mark.time && visible(mark.x)).sort((a, b) => a.x - b.x)) {
        if (at(x) - last < 124 || at(x) > right - 40) continue;
        last = at(x);
        made.push(shape("line", { class: "grid", x1: last, x2: last, y1: top, y2: height - 10 }),
          shape("text", { class: "tick", x: last, y: top - 20, "text-anchor": "middle" }, time));
      }
      return ticks.replaceChildren(...made);
    };
    const drawNumbers = () => {
      for (const own of numbers) {
        const taken = [];
        for (const { one, x } of [...own].sort((a, b) => a.crowded - b.crowded)) {
          const fits = taken.every((other) => Math.abs(at(x) - other) >= 15);
          if (fits) taken.push(at(x));
          one.classList.toggle("crowded", !fits);
        }
      }
    };
    const draw = () => {
      for (const { one, start, size, first, last } of spans) {
        const [x, end] = [at(first), at(last)].map((each) => among(each, left, right));
        shown(one, last >= from && first <= to);
        one.setAttribute(start, x);
        one.setAttribute(size, size === "width" ? Math.max(end - x, 2) : end);
      }
      for (const { one, x } of marks) {
        shown(one, visible(x));
        one.setAttribute("transform", `translate(${at(x) - x} 0)`);
      }
      drawTicks();
      drawNumbers();
      say();
    };

    const status = document.createElement("p");
    status.setAttribute("role", "status");
    const say = () => {
      const times = marks.filter((mark) => mark.time && visible(mark.x)).map((mark) => mark.time).sort();
      const some = lanes.filter(({ lane }) => !lane.hasAttribute("display")).length;
      const part = from === left && to === right ? "" : times.length ? `${times[0]} to ${times.at(-1)}` : "no event in this part";
      status.textContent = [part, some < lanes.length ? `${some} of ${lanes.length} workers` : ""].filter(Boolean).join(", ");
    };
    const view = (start, end) => {
      const span = among(end - start, (right - left) / 500, right - left);
      from = among((start + end - span) / 2, left, right - span);
      to = from + span;
      draw();
    };
    const zoom = (factor) => view((from + to) / 2 - (to - from) / 2 * factor, (from + to) / 2 + (to - from) / 2 * factor);
    const move = (share) => view(from + (to - from) * share, to + (to - from) * share);
    const whole = () => view(left, right);
    const choose = (text) => {
      const terms = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
      const exact = terms.filter((term) => lanes.some(({ name }) => name === term));
      const wanted = ({ lane, name }) => !terms.length || terms.some((term) => (exact.includes(term) ? name === term
        : `${name} ${lane.getAttribute("class")}`.includes(term)));
      let row = 0;
      for (const each of lanes) {
        const kept = wanted(each);
        shown(each.lane, kept);
        each.lane.setAttribute("transform", `translate(0 ${pitch * (row - each.place)})`);
        each.ended.textContent = terms.length ? each.ended.dataset.ended ?? each.told : each.told;
        row += kept;
      }
      const less = pitch * (lanes.length - row);
      svg.setAttribute("viewBox", `0 0 ${width} ${height - less}`);
      for (const one of svg.querySelectorAll("text.at")) one.setAttribute("y", height - 3 - less);
      say();
    };

    const plain = (label, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = label;
      made.addEventListener("click", act);
      return made;
    };
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.setAttribute("role", "group");
    controls.setAttribute("aria-label", "Timeline view");
    if (lanes.length > 4) {
      const field = document.createElement("input");
      field.type = "search";
      field.className = "filter";
      field.placeholder = "Workers: worker:3, chief, culprit";
      field.setAttribute("aria-label", "Show only these workers");
      field.addEventListener("input", () => choose(field.value));
      controls.append(field);
    }
    controls.append(plain("Zoom in", () => zoom(0.5)), plain("Zoom out", () => zoom(2)), plain("Earlier", () => move(-0.5)),
      plain("Later", () => move(0.5)), plain("Whole run", whole), status);
    svg.parentElement.before(controls);

    const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: whole };
    const arrows = { ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) };
    svg.parentElement.addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? null
        : keys[event.key] ?? (to - from < right - left ? arrows[event.key] : null);
      if (act) { act(); event.preventDefault(); }
    });
    const where = (event) => {
      const box = svg.getBoundingClientRect();
      return among((event.clientX - box.left) / box.width * width, left, right);
    };
    svg.classList.add("scripted");
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button || event.target.closest("a")) return;
      const start = where(event);
      const box = shape("rect", { class: "chosen", x: start, y: top, width: 0, height: height - top });
      svg.append(box);
      svg.setPointerCapture(event.pointerId);
      const dragged = (moved) => {
        box.setAttribute("x", Math.min(start, where(moved)));
        box.setAttribute("width", Math.abs(start - where(moved)));
      };
      svg.addEventListener("pointermove", dragged);
      const ended = (released) => {
        svg.removeEventListener("pointermove", dragged);
        svg.removeEventListener("pointerup", ended);
        svg.removeEventListener("pointercancel", ended);
        box.remove();
        const [a, b] = [start, where(released)].sort((one, other) => one - other)
          .map((x) => from + (x - left) / (right - left) * (to - from));
        if (released.type === "pointerup" && Math.abs(where(released) - start) > 6) view(a, b);
      };
      svg.addEventListener("pointerup", ended);
      svg.addEventListener("pointercancel", ended);
    });
    svg.addEventListener("dblclick", whole);
  };
  for (const svg of document.querySelectorAll("svg.lanes")) timeline(svg);

  const nearest = (points, step) => points.reduce((a, b) => (Math.abs(b[0] - step) < Math.abs(a[0] - step) ? b : a));
  for (const plot of document.querySelectorAll("[data-plot]")) {
    const { plot: tag, axis, left, right, first, last } = plot.dataset;
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
      readout.textContent = `${axis} ${step}`;
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
