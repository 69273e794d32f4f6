"use strict";

// Sorting, filtering and copying. Pages say all they have to say without this.

// A column is sorted by its cells' data-order, or by their text; numbers by size, others by locale,
// cells without a value last. Clicking again turns the order round.
globalThis.ccperf ??= {};
const sortable = (table) => {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.order ?? cell.textContent.trim();
    return { text, number: text === "" ? NaN : Number(text) };
  };
  const compare = (a, b, sign) => {
    if ((a.text === "") !== (b.text === "")) return a.text === "" ? 1 : -1;
    if (!Number.isNaN(a.number) && !Number.isNaN(b.number)) return sign * (a.number - b.number);
    return sign * a.text.localeCompare(b.text, undefined, { numeric: true });
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    if (head.querySelector("a")) {
      // A link stays one; the button stands beside it.
      button.className = "beside-link";
      button.setAttribute("aria-label", `Sort by ${head.textContent.trim()}`);
    } else {
      button.append(...head.childNodes);
    }
    head.append(button);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const keyed = [...body.rows].map((row) => [key(row, column), row]);
      keyed.sort(([a], [b]) => compare(a, b, ascending ? 1 : -1));
      body.append(...keyed.map(([, row]) => row));
    });
  });
};
// A table as a file: the rows that are shown; numbers with the digits that they are sorted by.
const csv = (table) => [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].flatMap((cell) => {
  const text = cell.dataset.order || cell.textContent.replace(/\s+/g, " ").replace(/ [⇅↑↓]$/, "").trim();
  const quoted = /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return [quoted, ...Array(cell.colSpan - 1).fill("")];
}).join(",")).join("\n");

// What tables get that pages say without: sorting, and files.
ccperf.dressed = (table) => {
  if (table.classList.contains("sortable")) sortable(table);
  const name = table.dataset.csv;
  if (!name) return;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "save", textContent: "CSV" });
  button.setAttribute("aria-label", `Save ${name} as CSV`);
  button.addEventListener("click", () => ccperf.save(`${name}.csv`, `${csv(table)}\n`, "text/csv"));
  (table.closest(".scroll") ?? table).after(button);
};
for (const table of document.querySelectorAll("table")) ccperf.dressed(table);

// Metrics are called by words; behind them stands what commands and files call them.
for (const link of document.querySelectorAll("table.metrics tbody th a[href*='metrics.html#']")) {
  link.after(Object.assign(document.createElement("code"), { textContent: link.hash.slice(1) }));
}

// The address carries what is shown: `names` are replaced by what is chosen of them, others stay.
ccperf.address = (chosen, names) => {
  const all = new URLSearchParams(location.hash.slice(1));
  for (const name of names) all.delete(name);
  for (const [name, value] of chosen) all.set(name, value);
  const text = [...all].length ? `#${all}` : location.pathname.split("/").pop();
  history.replaceState(null, "", text);
};

// A page is shown if it has every word; a section without any is not. What is counted are runs.
const form = document.querySelector("form.filter");
if (form) {
  const rows = [...document.querySelectorAll("tr[data-search]")];
  const sections = [...document.querySelectorAll("section.group")];
  const count = (some) => some.reduce((sum, row) => sum + Number(row.dataset.runs), 0);
  const all = count(rows);
  const apply = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const published = form.elements.published.checked;
    for (const row of rows) {
      const found = words.every((word) => row.dataset.search.includes(word));
      row.hidden = !found || (published && !row.classList.contains("published"));
    }
    for (const section of sections) {
      section.hidden = !section.querySelector("tr[data-search]:not([hidden])");
    }
    const shown = count(rows.filter((row) => !row.hidden));
    const runs = `run${all === 1 ? "" : "s"}`;
    form.querySelector("output").textContent =
      shown === all ? `${all} ${runs}` : `${shown} of ${all} ${runs}`;
  };
  form.hidden = false;
  const { words, published } = form.elements;
  form.addEventListener("input", () => {
    const chosen = [["filter", words.value.trim()], ["published", published.checked ? "only" : ""]];
    ccperf.address(chosen.filter(([, value]) => value), ["filter", "published"]);
    apply();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    words.value = given.get("filter") ?? "";
    published.checked = given.has("published");
    apply();
  };
  addEventListener("pageshow", read); // a browser may have kept what was typed before
  read();
}

// Neighbouring points are one key away.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  for (const link of document.querySelectorAll("a[data-key]")) {
    if (link.dataset.key === event.key) { link.click(); return; }
  }
});

// Files that the page makes, or has compressed.
ccperf.save = (name, content, type) => {
  const address = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};
for (const button of document.querySelectorAll("button.save[data-file]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    ccperf.save(button.dataset.save, await ccperf.load(button.dataset.file, button.dataset.name), "application/json");
  });
}

// Clipboards may be denied to pages from a folder; selecting the text works everywhere.
for (const button of document.querySelectorAll("button.copy")) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    let copied;
    try {
      await navigator.clipboard.writeText(source.textContent);
      copied = true;
    } catch {
      getSelection().selectAllChildren(source);
      copied = document.execCommand("copy");
    }
    const label = button.textContent;
    button.textContent = copied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
