"use strict";

// "What if?": settings of a run that the reader changes; the figures then show a simulation made here.
// The address carries the settings as #what-if=rtt=100ms,cc=cubic+bbr, as `ccperf run --what-if` reads.
globalThis.ccperf ??= {};
{
  const panel = document.getElementById("live");
  const root = document.documentElement.dataset.root ?? "";
  const NAMES = ["cc", "flows", "rate", "rtt", "buffer", "qdisc", "seed", "stop_time"];
  const COUNTS = ["flows", "seed"];
  const KEY = "what-if";
  const ID = "live";

  ccperf.writeSettings = (settings) => NAMES
    .filter((name) => settings[name] !== undefined)
    .map((name) => `${name}=${name === "cc" ? settings.cc.join("+") : settings[name]}`)
    .join(",");
  ccperf.readSettings = (text) => {
    const settings = {};
    for (const entry of text.split(",")) {
      const [name, value] = [entry.split("=")[0].trim(), entry.slice(entry.indexOf("=") + 1).trim()];
      if (!NAMES.includes(name) || !value) continue;
      settings[name] = name === "cc" ? value.split("+") : COUNTS.includes(name) ? Number(value) : value;
    }
    return settings;
  };

  // The same on every page, so it stands here.
  const slid = ([name, label, low, high]) => `<label>${label}
    <input name="${name}" autocomplete="off">
    <input name="${name}-slider" type="range" min="${low}" max="${high}" step="0.01" aria-label="${label}"></label>`;
  const FIELDS = `<legend class="hidden">Settings</legend>
    <label>Congestion control <select name="cc"><option value="">as they are</option></select></label>
    <label>and in turn with <select name="against"><option value="">no other</option></select></label>
    ${[["flows", "Flows", 0, 1.7], ["rate", "Bottleneck rate", 5, 9.3], ["rtt", "Least round trip", 5.7, 8.7],
    ["buffer", "Buffer", 0, 4]].map(slid).join("")}
    <label>Queue discipline <select name="qdisc"><option value="">none</option></select></label>
    <label>Seed <input name="seed" type="number" min="1" max="4294967295"></label>
    <label>Length <input name="stop_time" autocomplete="off"></label>`;

  // Sliders move over powers: from a unit of the engine's to what a field shows, and back.
  const UNITS = {
    rate: [["Gbps", 1e9], ["Mbps", 1e6], ["kbps", 1e3], ["bps", 1]],
    rtt: [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]],
    buffer: [["p", 1]],
    flows: [["", 1]],
  };
  const plain = (name, text) => {
    const found = /^([0-9.]+)([a-zA-Z]*)$/.exec(String(text).trim());
    const unit = found && UNITS[name].find(([each]) => each === found[2]);
    return unit ? Number(found[1]) * unit[1] : NaN;
  };
  const written = (name, value) => {
    const [unit, size] = UNITS[name].find(([, each]) => value >= each) ?? UNITS[name].at(-1);
    const rounded = Number((value / size).toPrecision(2));
    return `${unit === "p" || unit === "" ? Math.max(1, Math.round(value)) : rounded}${unit}`;
  };

  // From when on, in ns, a direction has which rate, in bit/s; of two at one time the later holds.
  const rates = (scenario, link, side) => {
    const isHere = ({ direction }) => direction === side || direction === "both";
    const changes = scenario.changes.filter((each) => each.link === link.name && each.rate && isHere(each));
    const schedules = (link.schedules ?? []).filter((each) => each.rates_bps && isHere(each));
    return [
      [0, plain("rate", link[side].rate ?? link.rate)],
      ...[
        ...changes.map(({ time, rate }) => [plain("rtt", time), plain("rate", rate)]),
        ...schedules.flatMap(({ times_ns, rates_bps }) => times_ns.map((time, i) => [time, rates_bps[i]])),
      ].sort(([one], [other]) => one - other),
    ];
  };

  // What quantities.js wants to know of the rows of the tables `flows` and `links`.
  const about = (scenario) => ({
    flows: scenario.flows.map((flow) => ({
      algorithm: flow.cc?.type ?? "",
      segment: parseInt(flow.tcp?.SegmentSize, 10) || undefined,
      // Of IP, TCP and PPP; timestamps are on unless said.
      headers: flow.tcp?.Timestamp === "false" ? 42 : 54,
      transport: flow.transport ?? "TCP",
    })),
    isMoving: scenario.changes.some(({ delay }) => delay) ||
      scenario.links.some(({ schedules }) => schedules?.some((one) => one.delays_ns)),
    links: scenario.links.flatMap((link) => ["forward", "reverse"].map((side) => ({
      qdisc: link[side].qdisc !== null,
      rates: rates(scenario, link, side),
    }))),
  });

  // A figure has room for so many moments; counters grow from one that is kept to the next.
  const MOMENTS = 2000;
  const thin = (table) => {
    const rows = table.time_ns.length;
    let wide = 0;
    while (wide < rows && table.time_ns[wide] === table.time_ns[0]) wide++;
    const step = Math.ceil(rows / Math.max(1, wide) / MOMENTS);
    if (step <= 1) return table;
    const kept = Math.ceil(rows / wide / step);
    const at = (i) => Math.floor(i / wide) * wide * step + (i % wide);
    return Object.fromEntries(Object.entries(table).map(([name, values]) => {
      const found = new values.constructor(kept * wide);
      for (let i = 0; i < found.length; i++) found[i] = values[at(i)];
      return [name, found];
    }));
  };

  const start = () => {
    const field = (name) => panel.querySelector(`[name=${name}]`);
    const status = panel.querySelector("[role=status]");
    const problems = panel.querySelector("[role=alert]");
    const meter = panel.querySelector("progress");
    const cancel = panel.querySelector("button.cancel");
    const reset = panel.querySelector("button.reset");
    const command = document.getElementById("live-command");
    const numbers = document.getElementById("live-numbers");
    panel.querySelector("fieldset").innerHTML = FIELDS;
    const { cc, qdisc } = ccperf.layout.choices;
    for (const [name, choices] of [["cc", cc], ["against", cc], ["qdisc", qdisc]]) {
      field(name).append(...choices.map((choice) => new Option(choice)));
    }
    // What a page cannot run: it is shown, and nobody can choose it.
    const own = JSON.parse(panel.dataset.own);
    for (const name of ["cc", "against"]) {
      field(name).append(...own.map((choice) => Object.assign(new Option(`${choice} (your own)`, choice), { disabled: true })));
    }
    const isOwn = (settings) => (settings.cc ?? base.cc ?? []).some((name) => own.includes(name));
    let engine = null;      // a promise of it
    let scenario = null;
    let base = null;
    let asked = 0;

    const other = () => {
      const settings = {};
      for (const name of NAMES) {
        if (name === "cc") {
          const first = field("cc").value;
          const chosen = first ? [first, field("against").value].filter(Boolean) : [];
          if (first && chosen.join() !== (base.cc ?? []).join()) settings.cc = chosen;
          continue;
        }
        const value = field(name).value.trim();
        if (!value || value === String(base[name])) continue;
        settings[name] = COUNTS.includes(name) ? Number(value) : value;
      }
      return settings;
    };

    const fill = (settings) => {
      const [cc = "", against = "", ...more] = settings.cc ?? [];
      field("cc").value = more.length ? "" : cc;
      field("against").value = more.length ? "" : against;
      for (const name of NAMES) if (name !== "cc") field(name).value = settings[name] ?? "";
      for (const name of Object.keys(UNITS)) follow(name);
    };
    // What the scenario does not have cannot be changed, nor anything while a page cannot run it.
    const enable = (isPossible) => {
      for (const name of NAMES) field(name).disabled = name !== "cc" && (!isPossible || base[name] === undefined);
      for (const name of Object.keys(UNITS)) field(`${name}-slider`).disabled = field(name).disabled;
      // Nothing takes turns with algorithms that stay as they are.
      field("against").disabled = !field("cc").value;
      // No setting takes a queue discipline away.
      field("qdisc").options[0].disabled = base.qdisc !== undefined;
    };
    const follow = (name) => {
      const slider = field(`${name}-slider`);
      const value = plain(name, field(name).value);
      if (value > 0) slider.value = Math.log10(value);
      slider.setAttribute("aria-valuetext", field(name).value);
    };

    const remember = (settings) => {
      const parts = new URLSearchParams(location.hash.slice(1));
      parts.delete(KEY);
      const text = ccperf.writeSettings(settings);
      if (text) parts.set(KEY, text);
      history.replaceState(null, "", `${location.pathname}${location.search}${parts.size ? `#${parts}` : ""}`);
      const what = text ? ` --what-if ${/^[\w=,.+-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`}` : "";
      command.textContent = `${panel.dataset.command}${what}`;
    };

    const tell = ({ problems: found, message }) => {
      for (const name of NAMES) field(name).removeAttribute("aria-invalid");
      // Fields that a reader does not see are wrong because a setting is.
      const seen = (found ?? []).filter(({ path }) => NAMES.includes(path));
      for (const { path } of seen) field(path).setAttribute("aria-invalid", "true");
      problems.textContent = seen.map((each) => `${each.path}: ${each.message}`).join("\n") || message;
      problems.hidden = !message;
    };

    const show = (tables, made, name) => {
      const { flow_samples, link_samples } = tables;
      const thinned = { ...tables, flow_samples: thin(flow_samples), link_samples: thin(link_samples) };
      const known = { id: ID, name, seed: made.seed, ...about(made) };
      const run = ccperf.quantities(thinned, known);
      // Numbers are of all samples.
      const { answers } = thinned.flow_samples === flow_samples ? run : ccperf.quantities(tables, known);
      ccperf.page.show({ ...run, answers, label: name });
      tabulate(answers, name);
    };

    // What was simulated in numbers, beside what is recorded.
    let recorded = null;
    const tabulate = (answers, name) => {
      const columns = [...(recorded ? [["recorded", recorded]] : []), [recorded ? name : "simulated", answers]];
      const cell = (kind, text, properties = {}) => Object.assign(document.createElement(kind), { textContent: text, ...properties });
      const row = (...cells) => { const made = document.createElement("tr"); made.append(...cells); return made; };
      numbers.querySelector("thead").replaceChildren(row(cell("td", ""),
        ...columns.map(([title]) => cell("th", title, { scope: "col", className: "number" }))));
      numbers.querySelector("tbody").replaceChildren(...ccperf.layout.answers.map(([metric, title, unit, factor], i) => row(
        cell("th", title, { scope: "row", title: metric }),
        ...columns.map(([, values]) => cell("td", ccperf.format(values[i] === null ? null : factor * values[i], unit), { className: "number" })))));
      numbers.hidden = false;
    };

    const simulate = async () => {
      const settings = other();
      const mine = ++asked;
      remember(settings);
      enable(!isOwn(settings));
      const name = ccperf.writeSettings(settings) || panel.dataset.name;
      const isRecorded = name === panel.dataset.name && panel.dataset.recorded !== undefined;
      if (isRecorded || isOwn(settings)) {
        (await engine).cancel();
        ccperf.page.remove(ID);
        numbers.hidden = true;
        tell({ message: "" });
        status.textContent = isOwn(settings) ? "As recorded. Choose another algorithm to simulate." : "As recorded.";
        return;
      }
      meter.hidden = cancel.hidden = false;
      try {
        for (const path of COUNTS) {
          if (!(path in settings) || Number.isInteger(settings[path]) && settings[path] >= 0) continue;
          const message = `\`${field(path).value}\` is not a whole number`;
          throw Object.assign(new Error(message), { problems: [{ path, message }] });
        }
        const made = await (await engine).simulate(scenario, settings, (tables, scenario, now, stop) => {
          meter.value = now / stop;
          tell({ message: "" });
          show(tables, scenario, name);
        });
        tell({ message: "" });
        show(made.tables, made.scenario, name);
        status.textContent = `Run ${panel.dataset.runs = Number(panel.dataset.runs ?? 0) + 1}: ` +
          `${made.scenario.stop_time} simulated in ${made.wall.toFixed(0)} ms.`;
      } catch (error) {
        if (error.cancelled) { if (mine === asked) status.textContent = "Cancelled."; }
        else tell(error);
      }
      if (mine === asked) { meter.hidden = cancel.hidden = true; meter.value = 0; }
    };

    const open = async () => {
      if (engine) return;
      status.textContent = "The engine is loading…";
      engine = ccperf.engine();
      try {
        scenario = ccperf.expand(await ccperf.load(panel.dataset.scenario, "scenario"));
        const { run } = document.getElementById("plots").dataset;
        if (run) recorded = (await ccperf.load("run.js", run)).answers;
        base = await (await engine).settings(scenario);
        status.textContent = "";
        panel.querySelector("fieldset").disabled = false;
        fill({ ...base, ...ccperf.readSettings(new URLSearchParams(location.hash.slice(1)).get(KEY) ?? "") });
        await simulate();
      } catch (error) {
        status.textContent = "";
        tell(error);
      }
    };

    for (const name of NAMES) field(name).addEventListener("input", () => { if (UNITS[name]) follow(name); simulate(); });
    field("against").addEventListener("input", () => {
      // One flow leaves no turn for the other algorithm.
      if (field("against").value && field("flows").value === "1") { field("flows").value = "2"; follow("flows"); }
      simulate();
    });
    for (const name of Object.keys(UNITS)) {
      field(`${name}-slider`).addEventListener("input", (event) => {
        field(name).value = written(name, 10 ** Number(event.target.value));
        event.target.setAttribute("aria-valuetext", field(name).value);
        simulate();
      });
    }
    cancel.addEventListener("click", async () => (await engine).cancel());
    reset.addEventListener("click", () => { fill(base); simulate(); });
    panel.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    panel.addEventListener("toggle", () => { if (panel.open) open(); });
    panel.hidden = panel.querySelector("form").hidden = reset.hidden = false;
    if (new URLSearchParams(location.hash.slice(1)).has(KEY)) panel.open = true;
    if (panel.open) open();
  };
  if (panel) start();
}
