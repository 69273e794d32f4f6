"use strict";

// What only the whole recording of a page's run knows, made anew by the engine in the page, which
// leaves the same to the last bit: congestion states, and all samples as CSV.
globalThis.ccperf ??= {};
{
  const root = document.documentElement.dataset.root ?? "";
  const MOST = 10; // flows whose states can be told apart

  // Of several that want the engine, all have the same.
  let engine = null;
  ccperf.engine = () => (engine ??= ccperf.Engine.start(root));

  // Rows of a table as CSV, with its columns; the column `named` has indices into `names`.
  ccperf.csv = (table, named, names) => {
    const columns = Object.keys(table);
    const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const text = (column, value) => {
      if (column === named) return quoted(String(names[Number(value)]));
      return Number.isNaN(value) ? "" : String(value);
    };
    const lines = [columns.join(",")];
    for (let row = 0; row < table[columns[0]].length; row++) {
      lines.push(columns.map((column) => text(column, table[column][row])).join(","));
    }
    return `${lines.join("\n")}\n`;
  };

  // Quantities as they are drawn, for sites without the engine.
  ccperf.csvOfFigures = (runs) => {
    const lines = ["run,seed,quantity,unit,subject,time_s,value"];
    for (const run of runs) {
      for (const [name, { unit, of }] of Object.entries(ccperf.layout.quantities)) {
        (run.columns[name] ?? []).forEach(({ x, y }, i) => {
          const subject = (of === "link" ? run.links : run.flows)[i].name;
          x.forEach((time, k) => {
            if (Number.isFinite(y[k])) lines.push(`${run.id},${run.seed},${name},${unit},${subject},${time},${y[k]}`);
          });
        });
      }
    }
    return `${lines.join("\n")}\n`;
  };

  const save = (name, text) => ccperf.save(name, text, "text/csv");

  // Buttons for the run that the page shows first, into `place`; `tell` says what goes on.
  ccperf.recordingButtons = (place, own, tell) => {
    const button = (text, act) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
      made.addEventListener("click", async () => {
        made.disabled = true;
        try { await act(made); } catch (error) { tell(error.message); }
        made.disabled = false;
      });
      place.append(made);
      return made;
    };
    const panel = document.getElementById("live");
    if (!panel) {
      button("Data of the figures (CSV)", () => save(`${own}.csv`, ccperf.csvOfFigures([...ccperf.page.runs.values()])));
      return;
    }
    let made = null;
    const recording = () => (made ??= (async () => {
      tell("Simulating…");
      const scenario = ccperf.expand(await ccperf.load(panel.dataset.scenario, "scenario"));
      const changes = ccperf.page.runs.get(own).flows.slice(0, MOST).map(({ name }) => name);
      const asked = { ...scenario, recording: { ...scenario.recording, changes } };
      const { tables } = await (await ccperf.engine()).simulate(asked, {});
      tell("");
      return tables;
    })().catch((error) => { made = null; throw error; }));

    const states = button("Congestion states", async () => {
      const is_shown = states.getAttribute("aria-pressed") === "true";
      if (is_shown) {
        const { states: _, ...rest } = ccperf.page.runs.get(own);
        ccperf.page.show(rest);
      } else {
        const tables = await recording();
        const run = ccperf.page.runs.get(own);
        const names = [...tables.flows.name];
        const shown = run.flows.map(({ name }) => names.indexOf(name));
        ccperf.page.show({ ...run, states: ccperf.states(tables, shown, run.end) });
        document.getElementById("figure-window")?.scrollIntoView({ block: "nearest" });
      }
      states.setAttribute("aria-pressed", String(!is_shown));
    });
    states.setAttribute("aria-pressed", "false");
    states.title = "Open, Disorder, CWR, Recovery or Loss, beneath the congestion window";
    for (const [text, table, named] of [
      ["Flows' samples (CSV)", "flow_samples", "flow"], ["Links' samples (CSV)", "link_samples", "link"],
    ]) {
      button(text, async () => {
        const tables = await recording();
        const names = named === "flow" ? tables.flows.name : tables.links.name;
        save(`${own}_${table}.csv`, ccperf.csv(tables[table], named, names));
      });
    }
  };
}
