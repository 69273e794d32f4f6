"use strict";

// An experiment's page: what one chooses, the figures of comparison.js and the map of heat.js for
// that, and runs that one chooses over each other.
{
  const host = document.getElementById("experiment");
  // Runs over each other at first; more do not look different enough.
  const TOLD_APART = 8;
  // Of the first parameters, the value before and the one behind.
  const KEYS = [["h", "l"], ["j", "k"], ["n", "m"]];

  // Options are [value, text, group]; those of a group follow each other.
  const select = (label, options, value) => {
    const made = document.createElement("select");
    let group = made;
    for (const [key, text, of] of options) {
      if (of && group.label !== of) made.append(group = Object.assign(document.createElement("optgroup"), { label: of }));
      group.append(new Option(text, key));
    }
    made.value = value;
    const outer = Object.assign(document.createElement("label"), { textContent: `${label} ` });
    outer.append(made);
    return [outer, made];
  };

  const start = async () => {
    const data = await ccperf.load(host.dataset.file, `experiment ${host.dataset.file.slice(0, -3)}`);
    const { parameters, algorithms, metrics, pages } = data;
    const { told, unitOf, ...figures } = ccperf.comparison(data);
    const wanted = new URLSearchParams(location.hash.slice(1));
    const choices = document.getElementById("choices");
    const metricNames = metrics.map(([name]) => name);
    const [metricLabel, metric] = select("Metric", metrics.map(([name, unit, , kind, title], m) => [name, unitOf(m) ? `${title} [${unit}]` : title, kind]),
      metricNames.includes(wanted.get("metric")) ? wanted.get("metric") : data.first);
    choices.append(metricLabel);
    const [baseLabel, base] = select("relative to", [["", "nothing"], ...data.bases.map((name) => [name, name])],
      data.bases.includes(wanted.get("base")) ? wanted.get("base") : wanted.has("metric") || data.shape !== "ratio" ? "" : data.bases[0] ?? "");
    if (data.bases.length) choices.append(baseLabel);
    const named = parameters.findIndex(({ name }) => name === (wanted.get("over") ?? data.over));
    const [axisLabel, axis] = select("over", parameters.map(({ name }, i) => [String(i), name]), String(Math.max(named, 0)));
    if (parameters.some(({ values }) => values.length > 1)) choices.append(axisLabel);
    const at = parameters.map(({ name, values, first }, i) => {
      const given = values.indexOf(wanted.get(name));
      const [label, made] = select(`${name} =`, values.map((value, v) => [String(v), value]), String(given >= 0 ? given : first));
      made.dataset.parameter = String(i);
      if (values.length > 1) choices.append(label);
      return made;
    });
    // Runs of another engine, backend or length are no neighbours: the most frequent are shown.
    const kinds = new Map();
    for (const page of pages) kinds.set(page.made, (kinds.get(page.made) ?? 0) + 1);
    const byCount = [...kinds.entries()].sort((a, b) => b[1] - a[1]).map(([made]) => made);
    const [madeLabel, made] = select("made by", byCount.map((one) => [one, one]), byCount[0]);
    if (byCount.length > 1) choices.append(madeLabel);

    const plots = new Map();
    const show = (id, figure) => {
      const title = Object.assign(document.createElement("strong"), { textContent: `${figure.title}. ` });
      if (plots.has(figure.name)) {
        plots.get(figure.name).update(figure);
        document.querySelector(`#figure-${figure.name} figcaption`).replaceChildren(title, figure.caption);
        return;
      }
      const box = document.createElement("figure");
      const area = document.createElement("div");
      const caption = document.createElement("figcaption");
      box.id = `figure-${figure.name}`;
      caption.append(title, figure.caption);
      box.append(area, caption);
      document.getElementById(id).append(box);
      plots.set(figure.name, new ccperf.Plot(area, figure));
    };

    // A choice may have no runs beside the others: then those give way, as few of them as there can.
    const settle = (kept) => {
      const fits = (page, i) => page.at[i] < 0 || page.at[i] === Number(at[i].value);
      // The parameter on the axis counts least: the figure shows all of its values, but the plane and the runs one.
      const agreement = (page) => at.reduce((sum, _, i) => sum + (fits(page, i) ? (i === Number(axis.value) ? 1 : 2) : 0), 0);
      const there = ours().filter((page) => !kept || page.at[at.indexOf(kept)] === Number(kept.value));
      const nearest = there.reduce((best, page) => (best && agreement(best) >= agreement(page) ? best : page), null);
      if (nearest) at.forEach((choice, i) => { if (!fits(nearest, i)) choice.value = String(nearest.at[i]); });
    };

    const ours = () => pages.filter((page) => page.made === made.value);
    const atPoint = () => ours().filter((page) => at.every((choice, i) => page.at[i] === Number(choice.value) || page.at[i] < 0));

    // No figure without values.
    const showIfAny = (id, figure) => {
      const isAny = figure.panels.some((panel) => panel.series.length);
      if (isAny) show(id, figure);
      const box = document.getElementById(`figure-${figure.name}`);
      if (box) box.hidden = !isAny;
    };

    const metricIndex = () => metricNames.indexOf(metric.value);
    const indices = () => at.map((choice) => Number(choice.value));
    const sweep = () => {
      const m = metricIndex(), over = Number(axis.value);
      const isHeadline = metrics[m][3] === "Headlines";
      baseLabel.hidden = !isHeadline;
      const members = ours().filter((page) => at.every((choice, i) => i === over || page.at[i] === Number(choice.value)));
      showIfAny("sweeps", figures.sweep(members, indices(), over, m, isHeadline ? data.bases.indexOf(base.value) : -1));
    };
    const plane = () => { if (data.plane.length) showIfAny("sweeps", figures.plane(atPoint(), indices())); };
    const seeds = () => showIfAny("sweeps", figures.seeds(atPoint(), indices(), metricIndex()));

    const map = ccperf.heatMap(document.getElementById("heat"), data, byCount[0], select);
    const heat = () => map(ours(), indices(), Number(axis.value), metricIndex());

    // Runs over each other: of this point those of the algorithms that are chosen, and runs of other
    // points that were kept. They are loaded only when they are asked for.
    const details = document.getElementById("series");
    const chosenRuns = document.getElementById("chosen");
    const status = document.getElementById("chosen-status");
    const without = new Set(wanted.has("without") ? wanted.get("without").split(",") : algorithms.slice(TOLD_APART));
    const kept = new Map((wanted.get("with") ?? "").split(",").filter(Boolean)
      .flatMap((id) => pages.filter((page) => page.id === id).map((page) => [id, page])));
    const here = () => atPoint().filter((page) => !kept.has(page.id));
    let changed = wanted.has("without");
    const shownRuns = () => [...here().filter((page) => !without.has(algorithms[page.algorithm])), ...kept.values()];

    // What tells a run from the others that are there to choose: its algorithm, and what differs.
    const nameOf = (page, among) => [
      algorithms[page.algorithm],
      ...parameters.flatMap(({ name, values }, i) =>
        (new Set(among.map((other) => other.at[i])).size > 1 && page.at[i] >= 0 ? [`${name} = ${values[page.at[i]]}`] : [])),
      ...told(page, among),
      ...(new Set(among.map((other) => other.made)).size > 1 ? [page.made] : []),
    ].join(", ");

    const choose = () => {
      const among = [...here(), ...kept.values()];
      const boxes = among.map((page) => {
        const box = Object.assign(document.createElement("input"), { type: "checkbox", value: page.id });
        box.checked = kept.has(page.id) || !without.has(algorithms[page.algorithm]);
        box.addEventListener("change", () => {
          if (!kept.delete(page.id)) without[box.checked ? "delete" : "add"](algorithms[page.algorithm]);
          changed = true;
          remember();
          overlay();
        });
        const label = document.createElement("label");
        label.append(box, ` ${nameOf(page, among)}`);
        return label;
      });
      const keep = Object.assign(document.createElement("button"), { type: "button", textContent: "Keep these beside other points" });
      keep.addEventListener("click", () => {
        for (const page of shownRuns()) kept.set(page.id, page);
        remember();
        overlay();
      });
      const focused = [...chosenRuns.querySelectorAll("input, button")].indexOf(document.activeElement);
      const buttons = Object.assign(document.createElement("span"), { className: "buttons" });
      buttons.append(keep);
      chosenRuns.replaceChildren(...boxes, buttons);
      if (focused >= 0) (chosenRuns.querySelectorAll("input, button")[focused] ?? keep).focus();
    };

    let drawn = 0;
    const overlay = async () => {
      if (!details.open) return;
      const turn = ++drawn;
      choose();
      const among = shownRuns();
      const runs = await Promise.all(among.map(async (page) => ({
        ...ccperf.unpack(await ccperf.load(`../runs/${page.id}/run.js`, page.id)), name: nameOf(page, among),
      })).map((promise) => promise.catch(() => null)));
      if (turn !== drawn) return;
      const there = runs.filter(Boolean);
      status.textContent = there.length ? "" : "No run is chosen.";
      document.getElementById("overlaid").hidden = !there.length;
      if (!there.length) return;
      for (const figure of ccperf.figuresOf(there)) if (figure.name !== "operating_point") showIfAny("overlaid", figure);
    };
    details.addEventListener("toggle", overlay);

    const draw = () => {
      at.forEach((choice, i) => { choice.disabled = false; choice.closest("label")?.classList.toggle("over", i === Number(axis.value)); });
      // A sweep beside the plane, unless the plane is what it is about.
      const drawings = [() => { if (metrics.length && parameters.length) sweep(); }, () => { if (metrics.length) plane(); }];
      for (const one of data.shape === "plane" ? drawings.reverse() : drawings) one();
      if (metrics.length) seeds();
      if (metrics.length && parameters.length) heat();
      overlay();
    };
    // A link carries what is shown.
    const remember = () => {
      const chosen = new URLSearchParams({ metric: metric.value, base: base.value });
      if (parameters.length) chosen.set("over", parameters[Number(axis.value)].name);
      at.forEach((choice, i) => { if (parameters[i].values.length > 1) chosen.set(parameters[i].name, parameters[i].values[Number(choice.value)]); });
      if (changed) chosen.set("without", [...without].join(","));
      if (kept.size) chosen.set("with", [...kept.keys()].join(","));
      ccperf.address(chosen, ["metric", "base", "over", "without", "with", ...parameters.map(({ name }) => name)]);
    };
    choices.addEventListener("change", (event) => {
      settle(at.includes(event.target) ? event.target : null);
      remember();
      draw();
    });

    // Neighbouring points are one key away, by the keys of the pages of runs.
    const steps = new Map();
    const changing = at.filter((_, i) => parameters[i].values.length > 1).slice(0, KEYS.length);
    changing.forEach((choice, i) => {
      KEYS[i].forEach((key, way) => steps.set(key, [choice, way ? 1 : -1]));
      choice.setAttribute("aria-keyshortcuts", KEYS[i].join(" "));
      choice.title = `Keys ${KEYS[i].join(" and ")}`;
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
      const [choice, step] = steps.get(event.key) ?? [];
      const next = choice ? choice.selectedIndex + step : -1;
      if (next < 0 || next >= choice.options.length) return;
      choice.selectedIndex = next;
      choice.dispatchEvent(new Event("change", { bubbles: true }));
    });
    if (changing.length) {
      const keys = changing.map((choice, i) => `${KEYS[i].join(" ")} for ${parameters[at.indexOf(choice)].name}`).join(", ");
      choices.after(Object.assign(document.createElement("p"), { className: "note", textContent: `Neighbouring points are one key away: ${keys}.` }));
    }
    host.hidden = false;
    settle(null);
    // What it did over time comes first where that is the question.
    if (data.shape === "time") document.getElementById("sweeps").before(details);
    if (kept.size || changed || data.shape === "time") details.open = true;
    draw();
    ccperf.experiment = { data, plots };
  };

  const picture = () => {
    const text = document.querySelector("main noscript")?.textContent;
    if (text) host.after(...new DOMParser().parseFromString(text, "text/html").body.children);
  };
  start().catch(picture);
}
