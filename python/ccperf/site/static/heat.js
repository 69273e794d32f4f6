"use strict";

// Two parameters and one algorithm: a table whose cells are darker where it is better.
globalThis.ccperf ??= {};
{
  const cellOf = (line, value, half, page, shade) => {
    const cell = line.insertCell();
    cell.className = `number q${Math.round(9 * shade)}`;
    cell.append(Object.assign(document.createElement("a"), { href: `../runs/${page.id}/index.html`, textContent: ccperf.format(value) }));
    if (half) cell.append(Object.assign(document.createElement("small"), { textContent: `±${ccperf.format(half)}` }));
  };

  // Returns what draws it, for pages at the values `at`, over the parameter `over`, of metric `m`. At first it is of whom
  // the most pages `made` so are.
  ccperf.heatMap = (box, data, made, select) => {
    const { parameters, algorithms, metrics, pages } = data;
    const { tellingOf, unitOf } = ccperf.comparison(data);
    // With several settings of an algorithm, each has a map.
    const telling = tellingOf(pages);
    const subjectOf = (page) => [algorithms[page.algorithm], ...telling(page)].join(" ");
    const runs = new Map();
    for (const page of [...pages].sort((p, q) => p.algorithm - q.algorithm || telling(p).length - telling(q).length)) {
      runs.set(subjectOf(page), (runs.get(subjectOf(page)) ?? 0) + (page.made === made));
    }
    const names = [...runs.keys()];
    const most = Math.max(...runs.values());
    const [label, who] = select("Algorithm", names.map((name) => [name, name]), names.find((name) => runs.get(name) === most));
    const wide = parameters.flatMap(({ values }, i) => (values.length > 1 ? [i] : []));

    const tableOf = (shown, at, over, m) => {
      const [, , better, , words] = metrics[m];
      const [rows, columns] = [wide.find((i) => i !== over), wide.includes(over) ? over : wide[1]];
      const found = new Map();
      for (const page of shown) {
        if (subjectOf(page) !== who.value || !page.metrics[m]) continue;
        if (!at.every((value, i) => i === rows || i === columns || page.at[i] === value)) continue;
        found.set(`${page.at[rows]} ${page.at[columns]}`, page);
      }
      const values = [...found.values()].map((page) => page.metrics[m][0]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const table = Object.assign(document.createElement("table"), { className: "heat" });
      table.createCaption().textContent = `${words}${unitOf(m) ? ` [${unitOf(m)}]` : ""}: darker is ${better ? "better" : "more"}`;
      const th = (text, scope) => Object.assign(document.createElement("th"), { scope, textContent: text });
      table.createTHead().insertRow().append(
        th(`${parameters[rows].name} \\ ${parameters[columns].name}`, "col"), ...parameters[columns].values.map((value) => th(value, "col")));
      const body = table.createTBody();
      parameters[rows].values.forEach((value, r) => {
        const line = body.insertRow();
        line.append(th(value, "row"));
        parameters[columns].values.forEach((_, c) => {
          const page = found.get(`${r} ${c}`);
          if (!page) { Object.assign(line.insertCell(), { className: "number", textContent: "–" }); return; }
          const [mean, half] = page.metrics[m];
          const share = high > low ? (mean - low) / (high - low) : 0;
          cellOf(line, mean, half, page, better === "lower" ? 1 - share : share);
        });
      });
      return table;
    };

    let last = () => {};
    const draw = (...shown) => {
      last = () => draw(...shown);
      if (wide.length < 2) { box.replaceChildren(); return; }
      const scroll = Object.assign(document.createElement("div"), { className: "scroll", tabIndex: 0 });
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", "Map of two parameters");
      scroll.append(tableOf(...shown));
      const controls = Object.assign(document.createElement("div"), { className: "controls" });
      controls.append(label);
      const isFocused = document.activeElement === who;
      box.replaceChildren(Object.assign(document.createElement("h3"), { textContent: "Two parameters" }), controls, scroll);
      if (isFocused) who.focus();
    };
    who.addEventListener("change", () => last());
    return draw;
  };
}
