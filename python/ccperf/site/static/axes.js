"use strict";

// What a plot is made of: ends and ticks of axes, texts of values, paths of series, markers.
// What stands in ccperf.axes is for plot.js.
globalThis.ccperf ??= {};
{
  const MARGIN = 0.06; // between data and the end of an axis
  const LEAST = 0.01;  // an axis is at least so long, in parts of its values

  ccperf.format = (value, unit = "") => {
    if (value === null || !Number.isFinite(value)) return "–";
    const text = value.toLocaleString("en", { maximumSignificantDigits: 4 }).replace("-", "−");
    return unit ? `${text}\u202f${unit}` : text;
  };

  // At most `most` + 1 whole multiples of 1, 2 or 5 times a power of ten, with their texts.
  const ticks = (low, high, most) => {
    const rough = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => power * factor >= rough * (1 - 1e-9));
    const places = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i++) {
      const text = (i * step).toFixed(places).replace("-", "−");
      found.push([i * step, Number(text.replace("−", "-")) === 0 ? text.replace("−", "") : text]);
    }
    return found;
  };

  const labelled = (axis) => axis.labels?.length ? axis.labels.map((label, i) => [i, label]) : null;
  // A value on an axis as it is read out.
  const said = (axis, value, unit = axis.unit) => axis.labels?.[value] ?? ccperf.format(value, unit);

  const limits = (axis, low, high) => {
    if (!(low <= high)) [low, high] = [0, 1];
    // What differs by less than a hundredth is not to look like much.
    const lacking = LEAST * Math.max(Math.abs(low), Math.abs(high)) - (high - low);
    if (axis.lower === null && axis.upper === null && !axis.isLog && lacking > 0) {
      [low, high] = [low - lacking / 2, high + lacking / 2];
    }
    const start = axis.lower ?? low;
    const end = axis.upper ?? high;
    const beyond = MARGIN * (end - start) || MARGIN * Math.abs(end) || 1;
    return [axis.lower ?? start - beyond, axis.upper ?? end + beyond];
  };

  // The first index whose x is at least `value`; x is ascending.
  const search = (x, value) => {
    let low = 0, high = x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (x[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  };

  const titleOf = (axis) => (axis.unit ? `${axis.label} [${axis.unit}]` : axis.label);

  // The indices of values that follow each other without a gap, piece by piece.
  const pieces = (values) => {
    const found = [];
    for (let i = 0; i < values.length; i++) {
      if (!Number.isFinite(values[i])) continue;
      if (i && Number.isFinite(values[i - 1])) found.at(-1).push(i); else found.push([i]);
    }
    return found;
  };

  // Path data of a series in a box, thinned to the first, least, greatest and last of each column of
  // pixels where there are more. A step's value is drawn from where its interval begins: at the point
  // before, or, of the first one, where the series says.
  const path = ({ x, y, shape, begins }, box) => {
    const first = Math.max(0, search(x, box.domain[0]) - 1);
    const last = Math.min(x.length - 1, search(x, box.domain[1]));
    const thin = last - first > 4 * box.width;
    let d = "", pen = false, column = null, kept = [];
    const put = (i) => {
      const a = box.toX(x[i]).toFixed(1), b = box.toY(y[i]).toFixed(1);
      if (!pen) {
        const from = i ? x[i - 1] : begins;
        const isCut = shape === "step" && (!i || !Number.isFinite(y[i - 1])) && from < x[i];
        d += isCut ? `M${box.toX(from).toFixed(1)} ${b}H${a}` : `M${a} ${b}`;
      }
      else if (shape === "step") d += `V${b}H${a}`;
      else if (shape === "ecdf") d += `H${a}V${b}`;
      else d += `L${a} ${b}`;
      pen = true;
    };
    const flush = () => { for (const i of [...new Set(kept)].sort((a, b) => a - b)) put(i); kept = []; };
    for (let i = first; i <= last; i++) {
      if (!Number.isFinite(y[i]) || !Number.isFinite(x[i])) { flush(); column = null; pen = false; continue; }
      if (!thin) { put(i); continue; }
      const at = Math.floor(box.toX(x[i]));
      if (at !== column) { flush(); column = at; kept = [i, i, i, i]; continue; }
      if (y[i] < y[kept[1]]) kept[1] = i;
      if (y[i] > y[kept[2]]) kept[2] = i;
      kept[3] = i;
    }
    flush();
    return d;
  };

  // The outline of an entry's marker at a place; "optimum" is a star.
  ccperf.marker = (entry, x, y, r) => {
    const polygon = (count, turn, size = 1.1) => {
      const corners = Array.from({ length: count }, (_, i) => {
        const angle = (turn + 360 * i / count) * Math.PI / 180;
        return `${(x + r * size * Math.sin(angle)).toFixed(1)} ${(y - r * size * Math.cos(angle)).toFixed(1)}`;
      });
      return `M${corners.join("L")}z`;
    };
    if (entry === "optimum") {
      const corners = Array.from({ length: 10 }, (_, i) => {
        const size = r * (i % 2 ? 0.382 : 1);
        return `${(x + size * Math.sin(Math.PI * i / 5)).toFixed(1)} ${(y - size * Math.cos(Math.PI * i / 5)).toFixed(1)}`;
      });
      return `M${corners.join("L")}z`;
    }
    const cross = (turn) => {
      const a = 0.36 * r, [c, s] = [Math.cos(turn), Math.sin(turn)];
      const corners = [[-a, -r], [a, -r], [a, -a], [r, -a], [r, a], [a, a], [a, r], [-a, r], [-a, a], [-r, a], [-r, -a], [-a, -a]];
      return `M${corners.map(([p, q]) => `${(x + c * p - s * q).toFixed(1)} ${(y + s * p + c * q).toFixed(1)}`).join("L")}z`;
    };
    const shapes = [
      () => `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
      () => polygon(4, 45), () => polygon(3, 0, 1.15), () => polygon(4, 0), () => polygon(3, 180, 1.15),
      () => cross(0), () => cross(Math.PI / 4), () => polygon(3, 270, 1.15), () => polygon(3, 90, 1.15), () => polygon(5, 0),
    ];
    return shapes[(typeof entry === "number" ? entry : 0) % shapes.length]();
  };

  // How each of several algorithms looks: the same in all figures (figures/palette.py); null where
  // two are the same, or some are none.
  const LOOKS = 10, SPARE = [5, 6, 7, 8, 9, 4, 3, 2, 1, 0];
  const bare = (name) => name.split(/[(:]/)[0];
  ccperf.SPARE = SPARE;
  ccperf.looksOf = (names) => {
    if (names.length > LOOKS || names.some((name) => !name) || new Set(names).size < names.length) return null;
    const placeOf = (name) => ccperf.layout?.looks[bare(name)] ?? Infinity;
    const free = [...SPARE], found = new Map();
    for (const name of [...names].sort((a, b) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)))) {
      const wanted = placeOf(name) % LOOKS;
      found.set(name, free.includes(wanted) ? wanted : free[0]);
      free.splice(free.indexOf(found.get(name)), 1);
    }
    return names.map((name) => found.get(name));
  };
  // The only one of some algorithms; empty if there are several.
  ccperf.theOne = (algorithms) => {
    const different = new Set(algorithms);
    return different.size === 1 ? [...different][0] ?? "" : "";
  };

  // Ticks of an axis of logarithms: powers of ten, with 2 and 5 between them where there are few.
  const decades = ([low, high]) => {
    const steps = high - low > 3 ? [1] : [1, 2, 5];
    const found = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
      for (const step of steps) {
        const value = step * 10 ** power;
        found.push([Math.log10(value), ccperf.format(value)]);
      }
    }
    return found;
  };

  // Between what a value is known to be: of factors as far down as up, by ratio.
  const interval = ({ y, half }, i, axis) => {
    const high = y[i] + (half?.[i] || 0);
    return [axis.isFactor ? y[i] * y[i] / high : 2 * y[i] - high, high];
  };

  // A figure whose x is drawn as its logarithm.
  const logarithmic = (figure) => {
    const panels = figure.panels.map((panel) => ({
      ...panel, x: { ...panel.x, lower: null, upper: null, isLog: true },
      series: panel.series.map((series) => {
        const kept = [...series.x.keys()].filter((i) => series.x[i] > 0);
        return { ...series, x: kept.map((i) => Math.log10(series.x[i])), y: kept.map((i) => series.y[i]) };
      }),
    }));
    return { ...figure, panels };
  };

  // How long a text of 12 pixels is.
  let pen = null;
  const lengthOf = (string, family) => {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = `12px ${family}`;
    return pen.measureText(string).width;
  };

  // Where a label stands whose middle is at x, and by which of its ends, so that it does not leave the room.
  const within = (x, label, first, last) => {
    const half = 3.6 * label.length;
    return x + half > last ? [last, "end"] : x - half < first ? [first, "start"] : [x, "middle"];
  };

  ccperf.axes = {
    ticks, decades, labelled, said, limits, interval, logarithmic, search, titleOf, lengthOf, path, pieces, within,
  };
}
