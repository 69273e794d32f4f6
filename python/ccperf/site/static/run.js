"use strict";

// The page of runs: its figures, which seeds they show, and runs of other pages beside them.
//
//   ccperf.page.show(run)     adds a run (quantities.js), or puts it in the place of the one with its
//                             id, and draws all figures again
//   ccperf.page.remove(id)
globalThis.ccperf ??= {};
{
  const host = document.getElementById("plots");
  const root = document.documentElement.dataset.root ?? "";
  const runs = new Map();
  const link = new ccperf.Link("time");
  const plots = new Map();
  const seedsOf = new Set(); // the ids of the page's own runs

  // A run is called by what tells it from the others that are shown.
  const named = () => {
    const own = (run) => (seedsOf.has(run.id) ? 0 : 1);
    const shown = [...runs.values()].sort((a, b) => own(a) - own(b));
    // What a run does not say (one that was made in the page) tells nothing.
    const differs = (key) =>
      new Set(shown.map((run) => run[key]).filter((value) => value !== undefined)).size > 1;
    const keys = ["name", "experiment", "point"].filter(differs);
    const several = keys.length < 1 || new Set(shown.map((run) => keys.map((key) => run[key]).join())).size < shown.length;
    return shown.map((run) => ({
      ...run,
      name: run.label ?? ([...keys.map((key) => run[key]).filter(Boolean), ...(several ? [`seed ${run.seed}`] : [])].join(", ") || run.name),
    }));
  };

  const draw = () => {
    const figures = runs.size ? ccperf.figuresOf(named()) : [];
    for (const figure of figures) {
      const plot = plots.get(figure.name);
      if (plot) {
        plot.update(figure);
        document.querySelector(`#figure-${figure.name} figcaption`).lastChild.textContent = figure.caption;
        continue;
      }
      const box = document.createElement("figure");
      const area = document.createElement("div");
      const caption = document.createElement("figcaption");
      caption.append(Object.assign(document.createElement("strong"), { textContent: `${figure.title}. ` }), figure.caption);
      box.append(area, caption);
      box.id = `figure-${figure.name}`;
      host.append(box);
      plots.set(figure.name, new ccperf.Plot(area, figure, figure.isTime ? { link } : {}));
    }
  };

  let remove = () => {};
  ccperf.page = {
    link, plots, runs,
    show: (run) => { runs.set(run.id, run); draw(); },
    remove: (id) => { if (runs.delete(id)) draw(); remove(id); },
  };

  if (host?.dataset.run) {
    const own = host.dataset.run;
    const controls = document.getElementById("runs");
    const chips = Object.assign(document.createElement("ul"), { className: "chips" });
    const status = Object.assign(document.createElement("span"), { className: "note" });
    status.setAttribute("role", "status");
    const compared = new Map(); // id of a page to its chip

    const fail = (error) => { status.textContent = error.message; };
    const add = async (file, id) => {
      const packed = await ccperf.load(file, id);
      ccperf.page.show({ ...ccperf.unpack(packed), experiment: packed.experiment, point: packed.point });
    };

    // Which are compared stands in the address, so that a link carries it.
    const remember = () => {
      const parts = new URLSearchParams(location.hash.slice(1));
      parts.delete("with");
      parts.delete("seed");
      if (compared.size) parts.set("with", [...compared.keys()].join(" "));
      if (seed && seed.value !== own) parts.set("seed", seed.value);
      history.replaceState(null, "", `${location.pathname}${parts.size ? `#${parts}` : ""}`);
    };

    remove = (id) => { compared.get(id)?.remove(); compared.delete(id); remember(); };
    const compare = async ({ run: { id, algorithm, experiment, point } }) => {
      if (id === own || compared.has(id)) return;
      const chip = document.createElement("li");
      const away = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
      const label = Object.assign(document.createElement("a"), {
        href: `${root}runs/${id}/index.html`,
        textContent: [algorithm, experiment, point].filter(Boolean).join(", ") || id,
      });
      away.setAttribute("aria-label", `Remove ${label.textContent}`);
      away.addEventListener("click", () => ccperf.page.remove(id));
      chip.append(label, away);
      compared.set(id, chip);
      try {
        await add(`${root}runs/${id}/run.js`, id);
        chips.append(chip);
        remember();
      } catch (error) { compared.delete(id); fail(error); }
    };

    // Seeds: one of them, or all over each other.
    const seeds = [...document.querySelectorAll("table.seeds tr[data-file]")].map(({ cells, dataset }) =>
      ({ seed: cells[0].textContent, run: cells[1].textContent, file: dataset.file }));
    let seed = null;
    for (const id of [own, ...seeds.map(({ run }) => run)]) seedsOf.add(id);
    if (seeds.length > 1) {
      seed = document.createElement("select");
      seed.append(...seeds.map(({ seed: number, run }) => new Option(`seed ${number}`, run)), new Option(`all ${seeds.length} seeds`, "all"));
      seed.addEventListener("change", async () => {
        const wanted = seeds.filter(({ run }) => seed.value === "all" || seed.value === run);
        status.textContent = "";
        await Promise.all(wanted.map(({ run, file }) => ccperf.load(file, run))).catch(fail);
        for (const { run } of seeds) runs.delete(run);
        for (const { run, file } of wanted) await add(file, run);
        remember();
      });
      controls.append(Object.assign(document.createElement("label"), { textContent: "Show " }));
      controls.lastChild.append(seed);
    }
    const field = document.createElement("span");
    ccperf.finder(field, {
      label: "Compare with another run", placeholder: "Compare with…", onlyRuns: true,
      pick: (entry) => { status.textContent = ""; compare(entry); },
    });
    const data = Object.assign(document.createElement("span"), { className: "buttons" });
    ccperf.recordingButtons(data, own, (text) => { status.textContent = text; });
    controls.append(field, data, chips, status);
    controls.hidden = false;

    // What cannot be drawn is shown as a picture.
    const picture = () => {
      const text = document.getElementById("picture")?.textContent;
      if (text) host.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.children);
    };
    const start = async () => {
      const wanted = new URLSearchParams(location.hash.slice(1));
      await add("run.js", own);
      // Of the picture only what is not drawn here.
      const beside = document.getElementById("beside");
      if (beside) {
        beside.classList.add("cut");
        beside.querySelector("img").style.marginTop = `${-100 * beside.dataset.cut}%`;
      }
      if (seed && wanted.get("seed") && [...seed.options].some(({ value }) => value === wanted.get("seed"))) {
        seed.value = wanted.get("seed");
        seed.dispatchEvent(new Event("change"));
      }
      const others = (wanted.get("with") ?? "").split(" ").filter((id) => /^[0-9a-f]{16}$/.test(id));
      if (others.length) {
        const { entries = [], runs: rows, groups } = await ccperf.load(`${root}index.js`, "index");
        for (const id of others) {
          const row = rows.find(([, each]) => each === id);
          if (row) await compare({ run: { id, algorithm: row[2], experiment: groups[row[0]][1], point: row[3] } });
        }
      }
    };
    start().catch((error) => { fail(error); picture(); });
  }
}
