"use strict";

// From runs to figures: the same description that the package has (figures/figure.py), drawn by
// plot.js. What stands in which panel comes from the package as ccperf.layout.
globalThis.ccperf ??= {};
{
  const MANY = 10;

  const ecdf = (values) => {
    const sorted = Float64Array.from(values).filter((value) => !Number.isNaN(value)).sort();
    if (!sorted.length) return { x: [], y: [] };
    return {
      x: [sorted[0], ...sorted],
      y: [0, ...sorted.map((_, i) => (i + 1) / sorted.length)],
    };
  };
  // Quantiles at equal distances are points of the distribution function.
  const ofQuantiles = (values) => ({
    x: [...values], y: [...values].map((_, i) => i / Math.max(1, values.length - 1)),
  });

  const average = (series) => ({
    x: series[0].x,
    y: series[0].x.map((_, k) => {
      let sum = 0, count = 0;
      for (const { y } of series) if (!Number.isNaN(y[k])) { sum += y[k]; count++; }
      return count ? sum / count : NaN;
    }),
  });

  const same = (columns) => columns.every((one) => one && one.length === 1 &&
    one[0].y.length === columns[0][0].y.length &&
    one[0].y.every((value, k) => Object.is(value, columns[0][0].y[k])));

  // The subjects of all runs, one after the other, and where each run's begin.
  const subjectsOf = (runs, of) => {
    const subjects = [], offsets = [];
    for (const run of runs) {
      offsets.push(subjects.length);
      const several = runs.length > 1;
      // Beside other runs, and where it is no flow's, all of it is of one algorithm.
      const whole = (several && run.algorithm) || ccperf.theOne(run.flows.map(({ algorithm }) => algorithm));
      for (const one of of === "link" ? run.links : run.flows) {
        const algorithm = several || of === "link" ? whole : one.algorithm ?? "";
        subjects.push({ name: [one.name, one.algorithm].filter(Boolean).join(" "), run: several ? run.name : "", algorithm });
      }
    }
    return { subjects, offsets };
  };

  // What a page has no room for of runs, and which command draws it: a sentence for each.
  const lacking = (runs, figure, names = []) => runs.flatMap((run) => {
    const lost = names.filter((name) => run.leftOut?.includes(name));
    const parts = [
      ...(run.flows.length < run.all ? [`${run.flows.length} of ${run.all} flows are drawn here`] : []),
      ...(lost.length ? [`left out of this page for room: ${lost.map((name) => ccperf.layout.quantities[name].label).join(", ")}`] : []),
    ];
    if (!parts.length) return [];
    return `${runs.length > 1 ? `${run.name}: ` : ""}${parts.join("; ")} (all: ccperf plot ${run.id} --figure ${figure}).`;
  });

  const optimum = (runs) => (runs.every(({ all }) => all === 1) ? "optimum" : "optimum, equal shares");

  const timeline = (layout, runs) => {
    const quantities = ccperf.layout.quantities;
    const { of } = quantities[layout.strips[0].quantity];
    const { subjects, offsets } = subjectsOf(runs, of);
    const roles = new Set();
    const x = { label: "Time", unit: "s", lower: 0, upper: Math.max(...runs.map((run) => run.end)) };
    const panels = layout.strips.map(({ quantity, dashed, ticks }) => {
      const { label, unit, shape, lower } = quantities[quantity];
      const series = [];
      runs.forEach((run, r) => {
        run.columns[quantity]?.forEach((column, i) => {
          series.push({ ...column, shape, role: "subject", subject: offsets[r] + i, begins: run.begins });
        });
      });
      const best = runs.map((run) => run.columns[`optimum_${quantity}`]);
      if (best[0] && same(best)) {
        series.push({ ...best[0][0], shape: "step", role: "optimum", subject: 0, begins: runs[0].begins });
        roles.add("optimum");
      }
      const [only] = runs;
      if (runs.length === 1 && only.columns[quantity]?.length > MANY) {
        series.push({ ...average(only.columns[quantity]), shape, role: "mean", subject: 0, begins: only.begins });
        roles.add("mean");
      }
      for (const name of dashed) {
        runs.forEach((run, r) => run.columns[name]?.forEach((column, i) => {
          series.push({
            ...column, shape: "line", role: "subject", subject: offsets[r] + i, dashed: true,
            label: quantities[name].label,
          });
        }));
      }
      ticks.forEach((name, rank) => {
        runs.forEach((run, r) => run.columns[name]?.forEach((column, i) => {
          const at = [...column.y.keys()].filter((k) => column.y[k] > 0);
          if (!at.length) return;
          series.push({
            x: at.map((k) => column.x[k]), y: at.map((k) => column.y[k]), shape: "ticks", rank,
            role: "subject", subject: offsets[r] + i, label: quantities[name].label,
          });
        }));
      });
      const empty = runs.some((run) => run.leftOut?.includes(quantity)) ? "left out of this page for room" : "";
      return { x, y: { label, unit, lower, upper: null }, series, lines: [], empty };
    });
    if (layout.states && runs.some((run) => run.states)) {
      const series = runs.flatMap((run, r) => (run.states ?? []).map((steps, i) => ({
        ...steps, shape: "step", role: "subject", subject: offsets[r] + i,
      })));
      panels.push({ x, y: ccperf.layout.states, series, lines: [] });
    }
    const labels = { optimum: optimum(runs), mean: "mean of the flows" };
    const names = layout.strips.flatMap(({ quantity, dashed, ticks }) => [quantity, ...dashed, ...ticks]);
    const caption = [layout.caption, ...(of === "flow" ? lacking(runs, layout.name, names) : [])].join(" ");
    return {
      name: layout.name, title: layout.title, caption, panels, subjects,
      roles: [...roles].map((role) => [role, labels[role]]), beside: false, isTime: true,
      alt: `${layout.title} over time: ${panels.map((p) => p.y.label).join(", ")}.`,
    };
  };

  const plane = (runs) => {
    const { subjects, offsets } = subjectsOf(runs, "flow");
    const series = [];
    runs.forEach((run, r) => run.means.srtt.forEach((srtt, i) => {
      if (Number.isNaN(srtt) || srtt === null) return;
      series.push({
        x: [srtt], y: [run.means.throughput[i]], shape: "points", role: "subject",
        subject: offsets[r] + i,
      });
    }));
    const best = runs.map((run) => ["throughput", "srtt"].map((name) => {
      const column = run.columns[`optimum_${name}`]?.[0].y;
      const known = Array.from(column ?? []).filter((value) => !Number.isNaN(value));
      return known.length ? known.reduce((a, b) => a + b, 0) / known.length : NaN;
    }));
    const roles = [];
    if (best.every(([rate, rtt]) => rate === best[0][0] && rtt === best[0][1])) {
      series.push({ x: [best[0][1]], y: [best[0][0]], shape: "points", role: "optimum", subject: 0 });
      roles.push(["optimum", optimum(runs)]);
    }
    return {
      name: "operating_point", title: "Mean operating point plane",
      caption: [
        "Mean throughput against mean smoothed RTT, one point a flow: up and left is better.",
        ...lacking(runs, "operating_point"),
      ].join(" "),
      alt: "Scatter plot of mean throughput in Mbps against mean smoothed round-trip time in ms.",
      panels: [{
        x: { label: "Mean sRTT", unit: "ms", lower: null, upper: null },
        y: { label: "Mean throughput", unit: "Mbps", lower: 0, upper: null }, series, lines: [],
      }],
      subjects, roles, beside: false,
    };
  };

  const distribution = (runs) => {
    const { subjects, offsets } = subjectsOf(runs, "flow");
    const panel = (quantity) => {
      const { label, unit, lower } = ccperf.layout.quantities[quantity];
      const series = [];
      runs.forEach((run, r) => (run.samples ?? run.columns)[quantity]?.forEach(({ y }, i) => {
        const of = run.quantiles?.[quantity]?.[i];
        series.push({
          ...(of ? ofQuantiles(of) : ecdf(y)), shape: of ? "line" : "ecdf", role: "subject",
          subject: offsets[r] + i,
        });
      }));
      return {
        x: { label, unit, lower, upper: null },
        y: { label: "Share of samples", unit: "", lower: 0, upper: 1.02 }, series, lines: [],
      };
    };
    return {
      name: "distribution", title: "Distribution of the operating point",
      caption: [
        "A point (v, p) says that the share p of the samples is at most v.",
        ...lacking(runs, "distribution"),
      ].join(" "),
      alt: "Empirical distribution functions of throughput in Mbps and smoothed RTT in ms.",
      panels: [panel("throughput"), panel("srtt")], subjects, roles: [], beside: true, isDistribution: true,
    };
  };

  // All figures of runs, those over time first; several runs lie over each other.
  ccperf.figuresOf = (runs) => [
    ...ccperf.layout.timelines.map((layout) => timeline(layout, runs)), plane(runs),
    distribution(runs),
  ];
}
