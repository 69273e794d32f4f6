"use strict";

// A field that finds pages while one types: in the head of every page, and wherever a run is to be
// chosen. The index is loaded when a field is first used.
globalThis.ccperf ??= {};
{
  const root = document.documentElement.dataset.root ?? "";
  const MOST = 12;
  let fields = 0;

  // Every page as { href, title, kind, words, run }.
  const entries = async () => {
    const index = await ccperf.load(`${root}index.js`, "index");
    index.entries ??= [
      ...index.places.map(([href, title, kind, words]) => ({
        href, title, kind, words: `${title} ${words} ${kind}`.toLowerCase(),
      })),
      ...index.runs.map(([group, id, algorithm, point, backend, seeds]) => {
        const [name, experiment] = index.groups[group];
        const title = `${algorithm}: ${experiment}${point ? `, ${point}` : ""}`;
        const tight = point.replaceAll(" = ", "=");
        return {
          href: `runs/${id}/index.html`, title, run: { id, algorithm, experiment, point },
          kind: seeds > 1 ? `${seeds} seeds` : "run",
          words: `${title} ${name} ${tight} ${backend} ${id}`.toLowerCase(),
        };
      }),
    ];
    return index.entries;
  };

  // Put a field into `host`; `pick` gets the entry that was chosen. Fields that are for runs only
  // say so.
  ccperf.finder = (host, { label, placeholder, onlyRuns = false, pick }) => {
    const id = `finder-${++fields}`;
    const input = Object.assign(document.createElement("input"), {
      type: "search", placeholder, autocomplete: "off", spellcheck: false, id,
    });
    const list = Object.assign(document.createElement("ul"), { id: `${id}-list`, hidden: true, className: "found" });
    const state = { role: "combobox", "aria-label": label, "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list" };
    for (const [key, value] of Object.entries(state)) input.setAttribute(key, value);
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", label);
    host.classList.add("finder");
    host.append(input, list);
    let found = [], at = -1;
    const show = () => {
      list.replaceChildren(...found.map((entry, i) => {
        const item = document.createElement("li");
        item.id = `${id}-${i}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", String(i === at));
        const kind = Object.assign(document.createElement("span"), { className: "kind", textContent: entry.kind });
        item.append(entry.title, " ", kind);
        item.addEventListener("pointerdown", (event) => { event.preventDefault(); choose(entry); });
        return item;
      }));
      list.hidden = !found.length;
      input.setAttribute("aria-expanded", String(found.length > 0));
      if (at >= 0) input.setAttribute("aria-activedescendant", `${id}-${at}`);
      else input.removeAttribute("aria-activedescendant");
      list.children[at]?.scrollIntoView({ block: "nearest" });
    };
    const close = () => { found = []; at = -1; show(); };
    const choose = (entry) => { input.value = ""; close(); pick(entry); };
    input.addEventListener("input", async () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) { close(); return; }
      const all = await entries();
      if (input.value.toLowerCase().split(/\s+/).filter(Boolean).join() !== words.join()) return;
      found = [];
      for (const entry of all) {
        if ((onlyRuns && !entry.run) || !words.every((word) => entry.words.includes(word))) continue;
        found.push(entry);
        if (found.length === MOST) break;
      }
      at = found.length ? 0 : -1;
      show();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") at = Math.min(found.length - 1, at + 1);
      else if (event.key === "ArrowUp") at = Math.max(0, at - 1);
      else if (event.key === "Enter" && found[at]) { event.preventDefault(); choose(found[at]); return; }
      else if (event.key === "Escape") { close(); return; }
      else return;
      event.preventDefault();
      show();
    });
    input.addEventListener("blur", close);
    return input;
  };

  const host = document.querySelector("header.site .search");
  if (host) {
    const input = ccperf.finder(host, {
      label: "Search", placeholder: "Search  /", pick: (entry) => { location.href = root + entry.href; },
    });
    host.hidden = false;
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
      event.preventDefault();
      input.focus();
    });
  }
}
