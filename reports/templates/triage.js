// Only adds: the page is complete without this.
"use strict";
(() => {
  for (const command of document.querySelectorAll(".command")) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = "Copy";
    made.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.querySelector("code").textContent);
        made.textContent = "Copied";
      } catch { made.textContent = "Not allowed here"; }
      setTimeout(() => { made.textContent = "Copy"; }, 1600);
    });
    command.append(made);
  }

  for (const table of document.querySelectorAll("table.filterable")) {
    const rows = [...table.querySelectorAll("tbody tr")];
    if (rows.length < 12) continue;
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

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
})();
