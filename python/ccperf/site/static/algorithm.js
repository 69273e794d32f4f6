"use strict";

// Another baseline: its sentence, and its differences from the page's data.
{
  const form = document.querySelector("form.controls");
  const table = document.querySelector("table.differences");
  if (form && table) {
    const first = form.elements.base.value;
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    const show = async () => {
      const base = form.elements.base.value;
      for (const section of document.querySelectorAll("section.against")) {
        // The table stands in the first one.
        section.querySelector("p").hidden = section.dataset.base !== base;
        section.hidden = section.dataset.base !== base && !section.contains(table);
      }
      const name = document.querySelector("h1").textContent;
      const data = await ccperf.load(`${location.pathname.split("/").pop().replace(/\.html$/, "")}.js`, `against ${name}`);
      const cells = data.find(([other]) => other === base)[1];
      table.querySelector(".base").textContent = base;
      const rows = new Map([...table.tBodies[0].rows].map((row) => [row.cells[0].querySelector("a").getAttribute("href"), row]));
      for (const [href, values] of cells) {
        const row = rows.get(href);
        values.forEach(([text, kind, order, title], i) => {
          const cell = row.cells[i + 1];
          cell.textContent = text;
          cell.className = `number ${kind}`.trim();
          cell.dataset.order = order;
          cell.title = title;
        });
      }
    };
    form.addEventListener("change", show);
    if (form.elements.base.value !== first) show();
  }
}
