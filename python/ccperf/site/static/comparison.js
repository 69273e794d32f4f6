"use strict";

// The figures that compare the algorithms of an experiment: a metric against a parameter, the plane
// of throughput and delay, and every seed. `at` has the index of each parameter's value.
globalThis.ccperf ??= {};
{
  const ELLIPSE_CORNERS = 48;

  // The ellipse of one standard deviation around points that scatter: half of an elliptic normal
  // distribution's mass lies within 1.18 of them.
  const ellipse = (points) => {
    const n = points.length;
    const [mx, my] = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / n);
    const moment = (a, b) => points.reduce((sum, p) => sum + (p[a] - (a ? my : mx)) * (p[b] - (b ? my : mx)), 0) / (n - 1);
    const [xx, yy, xy] = [moment(0, 0), moment(1, 1), moment(0, 1)];
    const middle = (xx + yy) / 2, apart = Math.hypot((xx - yy) / 2, xy);
    const [major, minor] = [Math.sqrt(middle + apart), Math.sqrt(Math.max(0, middle - apart))];
    const turn = Math.atan2(2 * xy, xx - yy) / 2;
    const x = [], y = [];
    for (let i = 0; i < ELLIPSE_CORNERS; i++) {
      const angle = 2 * Math.PI * i / ELLIPSE_CORNERS;
      const [p, q] = [major * Math.cos(angle), minor * Math.sin(angle)];
      x.push(mx + p * Math.cos(turn) - q * Math.sin(turn));
      y.push(my + p * Math.sin(turn) + q * Math.cos(turn));
    }
    return { x, y };
  };

  const quantile = (sorted, share) => {
    const at = share * (sorted.length - 1), low = Math.floor(at);
    return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  };

  ccperf.comparison = (data) => {
    const { parameters, algorithms, metrics } = data;
    const unitOf = (m) => (metrics[m][1] === "1" ? "" : metrics[m][1]);
    // What else differs among pages, of one of them.
    const tellingOf = (among) => {
      const differ = data.settings.map((_, i) => new Set(among.map((other) => other.settings[i])).size > 1);
      return (page) => data.settings.flatMap((name, i) => (page.settings[i] && differ[i] ? [`${name}=${page.settings[i]}`] : []));
    };
    const told = (page, among) => tellingOf(among)(page);
    // An algorithm has one look in all figures, and on the front page. With several settings the one of which least is told has it;
    // the others have looks that no algorithm here has.
    const subjectsOf = (shown, among) => {
      const usual = new Map();
      for (const page of shown) {
        const other = usual.get(page.algorithm);
        if (!other || told(page, among).length < told(other, among).length) usual.set(page.algorithm, page);
      }
      const taken = new Set([...usual.keys()].map((algorithm) => data.looks[algorithm]));
      const free = ccperf.SPARE.filter((look) => !taken.has(look));
      const lookOf = (page) => (usual.get(page.algorithm) === page ? data.looks[page.algorithm] : free.shift());
      return shown.map((page) => ({
        name: [algorithms[page.algorithm], ...told(page, among)].join(" "), run: "", look: data.looks.length ? lookOf(page) : undefined,
      }));
    };
    // What the point is, but for the parameter on the axis.
    const pointOf = (at, over = -1) => at.flatMap((value, i) =>
      (i !== over && parameters[i].values.length > 1 ? [`${parameters[i].name} = ${parameters[i].values[value]}`] : []));

    // Metric `m` of pages that differ in the parameter `over`; relative to base `b`, if that is not -1.
    const sweep = (members, at, over, m, b) => {
      const [name, , , , words] = metrics[m];
      const parameter = parameters[over];
      const isRatio = b >= 0;
      const valueOf = (page) => (isRatio ? page.ratios[m][b] : page.metrics[m]);
      const series = [], shown = [];
      let least = 0;
      const lacking = [];
      const lines = new Map();
      for (const page of members) {
        const key = JSON.stringify([page.algorithm, told(page, members)]);
        lines.set(key, [...(lines.get(key) ?? []), page]);
      }
      [...lines.values()].sort(([p], [q]) => p.algorithm - q.algorithm).forEach((points) => {
        points.sort((p, q) => p.at[over] - q.at[over]);
        if (!points.some(valueOf) || parameter.values.length < 2) return;
        const name = [algorithms[points[0].algorithm], ...told(points[0], members)].join(" ");
        // Where a run has no value the line breaks.
        const without = points.filter((page) => !valueOf(page)).map((page) => parameter.values[page.at[over]]);
        if (without.length) lacking.push(`${name} at ${without.join(", ")}`);
        const y = points.map((page) => valueOf(page)?.[0] ?? NaN);
        least = Math.min(least, ...y.filter(Number.isFinite));
        series.push({
          x: points.map((page) => page.at[over]), y, half: points.map((page) => valueOf(page)?.[1] ?? 0),
          shape: parameter.isWords ? "points" : "line", role: "subject", subject: shown.length,
        });
        shown.push(points[0]);
      });
      const subjects = subjectsOf(shown, members);
      // Between two words there is nothing: their points stand beside each other.
      const apart = parameter.isWords ? Math.min(0.12, 0.7 / series.length) : 0;
      series.forEach((one, i) => { one.x = one.x.map((place) => place + apart * (i - (series.length - 1) / 2)); });
      const title = `${words} over ${parameter.name}${isRatio ? `, relative to ${data.bases[b]}` : ""}`;
      return {
        name: "sweep", title: [title, ...pointOf(at, over)].join(", "), beside: false, subjects, roles: [],
        caption: `${name}. ${parameter.isWords ? "Bars" : "One line an algorithm; bands"} are 95 % intervals over the seeds, where there are several and they differ.${lacking.length ? ` No value: ${lacking.join("; ")}.` : ""}`,
        alt: `${title}, one line for each of ${subjects.length} algorithms.`,
        panels: [{
          x: { label: parameter.name, unit: "", lower: parameter.isWords ? -0.5 : -0.15, upper: parameter.values.length - (parameter.isWords ? 0.5 : 0.85), labels: parameter.values },
          y: { label: isRatio ? `Factor over ${data.bases[b]}` : words, unit: isRatio ? "" : unitOf(m), lower: isRatio || least < 0 ? null : 0, upper: null, isFactor: isRatio },
          series, lines: isRatio ? [{ axis: "y", value: 1, role: "optimum" }] : [],
        }],
      };
    };

    // The plane of the two metrics of `data.plane`: a mean an algorithm, and its seeds.
    const plane = (pages, at) => {
      const series = [];
      const shown = pages.filter((page) => page.plane.length);
      const subjects = subjectsOf(shown, shown);
      shown.forEach((page, subject) => {
        const look = { role: "subject", subject };
        const centre = [0, 1].map((axisOf) => page.plane.reduce((sum, point) => sum + point[axisOf], 0) / page.plane.length);
        if (page.plane.length > 2) {
          series.push({ ...ellipse(page.plane), shape: "outline", ...look });
          series.push({ x: page.plane.map(([x]) => x), y: page.plane.map(([, y]) => y), shape: "points", small: true, ...look });
        }
        series.push({ x: [centre[0]], y: [centre[1]], shape: "points", ...look });
      });
      const [mx, my] = data.plane.map((name) => metrics.findIndex(([other]) => other === name));
      const [across, up] = [mx, my].map((m) => ({ label: metrics[m][4], unit: unitOf(m), lower: null, upper: null }));
      const best = `${metrics[my][2] === "higher" ? "up" : "down"} and ${metrics[mx][2] === "higher" ? "right" : "left"} is better`;
      return {
        name: "plane", title: [`${up.label} against ${across.label}`, ...pointOf(at)].join(", "), beside: false, subjects, roles: [],
        caption: `${best[0].toUpperCase()}${best.slice(1)}. Small: seeds; the ellipse is one standard deviation around them, from three seeds on.`,
        alt: `Scatter plot of ${up.label} against ${across.label} for ${subjects.length} algorithms: ${best}.`,
        panels: [{ x: across, y: up, series, lines: [] }],
      };
    };

    // Every seed's value at the point, beside a box of the middle half with the median.
    const seeds = (pages, at, m) => {
      const [name, , , , words] = metrics[m];
      const series = [];
      let isSpread = false;
      const shown = pages.filter((page) => page.seeds[m]?.length);
      const subjects = subjectsOf(shown, shown);
      shown.forEach((page, i) => {
        const sorted = [...page.seeds[m]].sort((a, b) => a - b);
        const look = { role: "subject", subject: i };
        if (sorted[0] < sorted.at(-1)) {
          isSpread ||= sorted.length > 2;
          const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share));
          series.push({ x: [i - 0.3, i + 0.3, i + 0.3, i - 0.3], y: [low, low, high, high], shape: "outline", ...look });
          series.push({ x: [i - 0.3, i + 0.3], y: [middle, middle], shape: "outline", ...look });
        }
        // Beside each other, in an order that says nothing.
        const aside = (k) => ((k * 0.618) % 1 - 0.5) * 0.4;
        series.push({ x: sorted.map((_, k) => i + aside(k)), y: sorted, shape: "points", small: sorted.length > 1, ...look });
      });
      return {
        name: "seeds", title: [`${words}, seed by seed`, ...pointOf(at)].join(", "), beside: false, subjects, roles: [],
        caption: `${name}. One point a seed; the box is the middle half of them, the line in it the median.`,
        alt: `${words} of every seed for each of ${subjects.length} algorithms.`,
        panels: [{
          x: { label: "", unit: "", lower: -0.6, upper: subjects.length - 0.4, labels: subjects.map((one) => one.name) },
          y: { label: words, unit: unitOf(m), lower: null, upper: null },
          series: isSpread ? series : [], lines: [],
        }],
      };
    };

    return { told, tellingOf, unitOf, sweep, plane, seeds };
  };
}
