"use strict";

// Draws a figure that can be asked: zoom (drag, buttons, keys), values under the pointer with their
// units, series switched off and on in the legend, axes of time that move together.
//
//   const plot = new ccperf.Plot(element, figure, { link });
//   plot.update(figure);              // other data; zoom and hidden series stay
//
// figure: { name, title, alt, panels: [{ x, y, series, lines }], subjects: [{ name, run, look }],
// roles: [[role, label]], beside }; axes: { label, unit, lower, upper, isFactor }; series: { x, y, shape, role,
// subject, half, dashed, rank, label }, as in figures/figure.py. Plots with the same link
// (new ccperf.Link()) show the same part of the x axis, and the same cursor.
globalThis.ccperf ??= {};
{
  const SVG = "http://www.w3.org/2000/svg";
  const DISTINCT = 10;      // so many looks are apart in colour and marker
  const SHADES = 20;        // more lie on a scale
  const STROKES = [8, 14];  // how tall ticks of events are
  const {
    ticks, decades, labelled, said, limits, interval, logarithmic, search, titleOf, lengthOf, path, pieces, within,
  } = ccperf.axes;
  const LONGEST = 1.5;      // intervals of factors are cut so far beyond all values
  const HELP = "Arrow keys move the cursor, plus and minus zoom, 0 shows everything.";

  const make = (name, attributes = {}, ...children) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const write = (svg, text, x, y, anchor, isTurned = false) => svg.append(make("text", {
    x, y, "text-anchor": anchor, ...(isTurned ? { transform: `rotate(-90 ${x} ${y})` } : {}),
  }, text));
  const html = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // What several plots have in common: the part of the x axis that is shown, and the cursor.
  // One with a name keeps what is shown in the address.
  ccperf.Link = class {
    constructor(name = "") {
      this.plots = new Set();
      this.cursor = null;
      this.key = name && `zoom-${name}`;
      const kept = name ? new URLSearchParams(location.hash.slice(1)).get(this.key)?.split(",").map(Number) : null;
      this.domain = kept?.length === 2 && kept[0] < kept[1] ? kept : null;
    }
    zoom(domain) {
      this.domain = domain;
      if (this.key) ccperf.address(domain ? [[this.key, domain.map((end) => Number(end.toPrecision(6))).join(",")]] : [], [this.key]);
      for (const plot of this.plots) plot.draw();
    }
    point(cursor, from) {
      this.cursor = cursor;
      for (const plot of this.plots) plot.drawCursor(plot === from);
    }
  };

  ccperf.Plot = class {
    constructor(host, figure, { link = new ccperf.Link(figure.name) } = {}) {
      this.host = host;
      this.link = link;
      this.hidden = new Set();
      this.active = 0;
      host.classList.add("plot");
      this.legend = html("ul", { className: "legend" });
      const button = (label, text, act) => {
        const made = html("button", { type: "button", textContent: text, title: label });
        made.setAttribute("aria-label", label);
        made.addEventListener("click", act);
        return made;
      };
      this.bar = html("div", { className: "zoom" },
        button("Zoom in", "+", () => this.scale(0.5)),
        button("Zoom out", "−", () => this.scale(2)),
        button("Show everything", "⤢", () => this.link.zoom(null)),
        this.logButton = button("log x axis", "log", () => this.setLog(!this.isLog)),
        button("Save as SVG", "SVG", () => ccperf.save(`${this.figure.name}.svg`, ccperf.exportSvg(this), "image/svg+xml")),
        button("Save as PNG", "PNG", async () => ccperf.save(`${this.figure.name}.png`, await ccperf.exportPng(this), "image/png")));
      this.area = html("div", { className: "area", tabIndex: 0 });
      this.area.setAttribute("role", "group");
      this.readout = html("div", { className: "readout", hidden: true });
      this.readout.setAttribute("aria-hidden", "true");
      this.said = html("p", { className: "hidden" });
      this.said.setAttribute("aria-live", "polite");
      host.replaceChildren(html("div", { className: "head" }, this.legend, this.bar), this.area, this.said);
      this.link.plots.add(this);
      this.listen();
      this.update(figure);
      this.width = host.clientWidth;
      new ResizeObserver(() => {
        if (Math.abs(host.clientWidth - this.width) > 1) { this.width = host.clientWidth; this.draw(); }
      }).observe(host);
    }

    update(given) {
      this.given = given;
      const figure = this.isLog ? logarithmic(given) : given;
      this.figure = figure;
      this.logButton.hidden = !figure.isDistribution;
      const runs = [...new Set(figure.subjects.map((subject) => subject.run))];
      this.byRun = runs.length > 1;
      this.entries = this.byRun ? runs : figure.subjects.map((subject) => subject.name);
      this.entryOf = figure.subjects.map((subject, i) => (this.byRun ? runs.indexOf(subject.run) : i));
      this.looks = ccperf.looksOf(this.entries.map((_, entry) =>
        ccperf.theOne(figure.subjects.flatMap(({ algorithm }, i) => (this.entryOf[i] === entry ? [algorithm] : [])))));
      this.area.setAttribute("aria-label", `${figure.title}. ${figure.alt} ${HELP}`);
      this.drawLegend();
      this.draw();
    }

    // Distributions can have their x axis logarithmic.
    setLog(isLog) {
      this.isLog = isLog;
      this.logButton.setAttribute("aria-pressed", String(isLog));
      this.link.domain = null;
      this.update(this.given);
    }

    // Colour and marker: a subject's own, else by its place.
    lookOf(entry) {
      return this.figure.subjects[this.entryOf.indexOf(entry)]?.look ?? this.looks?.[entry] ?? entry;
    }
    look(entry) {
      if (this.entries.length <= DISTINCT) return `c${this.lookOf(entry)}`;
      return `v${Math.round(entry / (this.entries.length - 1) * (SHADES - 1))}`;
    }
    classOf(series) {
      return series.role === "subject" ? this.look(this.entryOf[series.subject]) : `r-${series.role}`;
    }
    isShown(series) {
      return !this.hidden.has(series.role === "subject"
        ? this.entries[this.entryOf[series.subject]] : `role:${series.role}`);
    }

    drawLegend() {
      const keyed = [];
      const several = this.entries.length > 1 || this.figure.roles.length > 0;
      if (several && this.entries.length <= 2 * SHADES) {
        this.entries.forEach((name, i) => keyed.push([name, name, this.look(i), i]));
      }
      for (const [role, label] of this.figure.roles) {
        keyed.push([`role:${role}`, label, `r-${role}`, -1]);
      }
      const focused = this.legend.contains(document.activeElement)
        ? [...this.legend.querySelectorAll("button")].indexOf(document.activeElement) : -1;
      this.legend.replaceChildren(...keyed.map(([key, label, look, entry]) => {
        const handle = make("svg", { width: 22, height: 12, "aria-hidden": "true" },
          make("path", { class: `line ${look}`, d: "M1 6h20" }));
        if (entry >= 0 && this.entries.length <= DISTINCT) {
          handle.append(make("path", { class: `mark ${look}`, d: ccperf.marker(this.lookOf(entry), 11, 6, 4) }));
        }
        const button = html("button", { type: "button", title: "Click: off and on. Double click: only this." },
          handle, html("span", { textContent: label }));
        button.setAttribute("aria-pressed", String(!this.hidden.has(key)));
        button.addEventListener("click", () => {
          if (!this.hidden.delete(key)) this.hidden.add(key);
          button.setAttribute("aria-pressed", String(!this.hidden.has(key)));
          this.draw();
        });
        button.addEventListener("dblclick", () => {
          this.hidden = new Set(keyed.map(([other]) => other).filter((other) => other !== key));
          this.drawLegend();
          this.draw();
        });
        return html("li", {}, button);
      }));
      if (focused >= 0) this.legend.querySelectorAll("button")[focused]?.focus();
      this.legend.hidden = !keyed.length;
    }

    // Where everything is, at the width there is.
    arrange() {
      const { panels, beside } = this.figure;
      // Without the padding of the host.
      const width = Math.max(240, this.area.clientWidth);
      const across = beside && width >= 460 ? panels.length : 1;
      const rows = Math.ceil(panels.length / across);
      const tall = rows === 1 || (beside && across === 1) ? Math.min(250, Math.max(170, width * 0.45))
        : Math.min(150, Math.max(110, width * 0.26));
      const shared = !beside && panels.length > 1;
      this.boxes = panels.map((panel, i) => {
        const [low, high] = this.range(panel, "x", null);
        const full = limits(panel.x, low, high);
        const domain = this.link.domain && (!beside || this.zoomed === i) ? this.link.domain : full;
        const y = limits(panel.y, ...this.range(panel, "y", domain));
        return { panel, domain, full, y, ticks: labelled(panel.y) ?? ticks(y[0], y[1], tall < 160 ? 4 : 6) };
      });
      if (shared) {
        const full = [Math.min(...this.boxes.map((b) => b.full[0])), Math.max(...this.boxes.map((b) => b.full[1]))];
        for (const box of this.boxes) { box.full = full; box.domain = this.link.domain ?? full; }
      }
      const room = 30 + 7.2 * Math.max(...this.boxes.flatMap((box) => box.ticks.map(([, text]) => text.length)), 1);
      let top = 6;
      this.boxes.forEach((box, i) => {
        const column = i % across;
        const last = !shared || i === panels.length - 1;
        box.width = width / across - room - 14;
        box.height = tall;
        box.left = column * (width / across) + room;
        box.top = top;
        box.room = room;
        box.labelled = last;
        if (column === across - 1) top += tall + (last ? 42 : 14);
      });
      return [width, top];
    }

    range(panel, axis, domain) {
      let low = Infinity, high = -Infinity;
      const meet = (value) => { if (value < low) low = value; if (value > high) high = value; };
      for (const line of panel.lines ?? []) if (line.axis === axis) meet(line.value);
      for (const series of panel.series) {
        if (!this.isShown(series) || (series.shape === "ticks" && axis === "y")) continue;
        for (let i = 0; i < series.x.length; i++) {
          const x = series.x[i], y = series.y[i];
          if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
          if (domain && (x < domain[0] || x > domain[1])) continue;
          if (axis === "x") { meet(x); continue; }
          const [from, to] = interval(series, i, panel.y);
          meet(from); meet(to);
        }
      }
      if (axis === "x" || !panel.y.isFactor) return [low, high];
      // Intervals of few seeds are so long that they would leave no room for anything else.
      const values = panel.series.flatMap((series) => (this.isShown(series) ? Array.from(series.y).filter(Number.isFinite) : []));
      return [Math.max(low, Math.min(1, ...values) / LONGEST), Math.min(high, Math.max(1, ...values) * LONGEST)];
    }

    draw() {
      if (!this.host.clientWidth) return;
      const [width, height] = this.arrange();
      const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": this.figure.alt });
      this.cursors = [];
      for (const box of this.boxes) this.drawPanel(svg, box);
      this.area.replaceChildren(svg, this.readout);
      this.bar.classList.toggle("zoomed", this.link.domain !== null);
      this.drawCursor(false);
    }

    drawPanel(svg, box) {
      const { panel, left, top, width, height, domain, y } = box;
      const bottom = top + height;
      box.toX = (value) => left + (value - domain[0]) / (domain[1] - domain[0]) * width;
      box.toY = (value) => bottom - (value - y[0]) / (y[1] - y[0]) * height;
      this.drawAxes(svg, box);
      const clip = `clip-${this.figure.name}-${Math.random().toString(36).slice(2)}`;
      svg.append(make("clipPath", { id: clip }, make("rect", { x: left - 1, y: top - 1, width: width + 2, height: height + 2 })));
      const inside = make("g", { "clip-path": `url(#${clip})` });
      svg.append(inside);
      for (const line of panel.lines ?? []) {
        const d = line.axis === "x" ? `M${box.toX(line.value)} ${top}V${bottom}` : `M${left} ${box.toY(line.value)}H${left + width}`;
        inside.append(make("path", { class: `line r-${line.role}`, d }));
      }
      let drawn = 0;
      const order = [...panel.series].sort((a, b) => (a.role !== "subject") - (b.role !== "subject"));
      for (const series of order) if (this.isShown(series)) drawn += this.drawSeries(svg, inside, box, series);
      if (!drawn) {
        write(svg, panel.series.length ? "nothing to show here" : panel.empty || "no values", left + width / 2, top + height / 2, "middle");
      }
      const cursor = make("g", { class: "cursor" });
      svg.append(cursor);
      this.cursors.push(cursor);
    }

    drawAxes(svg, box) {
      const { panel, left, top, width, height, domain } = box;
      const bottom = top + height;
      const across = (panel.x.isLog ? decades(domain) : labelled(panel.x))?.filter(([i]) => i >= domain[0] && i <= domain[1])
        ?? ticks(domain[0], domain[1], Math.max(2, Math.min(8, Math.floor(width / 60))));
      const longest = 7.2 * Math.max(...across.map(([, text]) => text.length));
      const apart = across.length > 1 ? box.toX(across[1][0]) - box.toX(across[0][0]) : Infinity;
      const every = Math.max(1, Math.ceil((longest + 8) / apart));
      let grid = "", axes = `M${left} ${top}V${bottom}H${left + width}`;
      for (const [value] of across) {
        const at = box.toX(value).toFixed(1);
        grid += `M${at} ${top}V${bottom}`;
        axes += `M${at} ${bottom}v4`;
      }
      for (const [value] of box.ticks) {
        const at = box.toY(value).toFixed(1);
        grid += `M${left} ${at}H${left + width}`;
        axes += `M${left} ${at}h-4`;
      }
      svg.append(make("path", { class: "grid", d: grid }), make("path", { class: "axes", d: axes }));
      if (box.labelled) {
        across.forEach(([value, label], i) => {
          if (i % every) return;
          const [x, anchor] = within(box.toX(value), label, left - box.room, left + width + 14);
          write(svg, label, x, bottom + 18, anchor);
        });
        write(svg, titleOf(panel.x), left + width / 2, bottom + 35, "middle");
      }
      for (const [value, label] of box.ticks) write(svg, label, left - 7, box.toY(value) + 4, "end");
      // A long title is as small as it has to be; a very long one has two lines.
      const title = titleOf(panel.y);
      const room = (height + 2 * Math.min(top, 10)) / lengthOf(title, getComputedStyle(this.area).fontFamily);
      const cut = room < 0.75 ? title.lastIndexOf(" ", title.length / 2 + 4) : -1;
      const lines = cut > 0 ? [title.slice(0, cut), title.slice(cut + 1)] : [title];
      lines.forEach((line, i) => {
        write(svg, line, left - box.room + (lines.length > 1 ? 11 + 10 * i : 14), top + height / 2, "middle", true);
        const size = lines.length > 1 ? Math.min(10, 12 * room * title.length / line.length) : 12 * room;
        if (size < 12) svg.lastChild.style.fontSize = `${Math.max(8, size)}px`;
      });
    }

    // How much there is of it to see besides strokes and outlines.
    drawSeries(svg, inside, box, series) {
      const look = this.classOf(series);
      if (series.shape === "points") return this.drawPoints(svg, box, series, look);
      if (series.shape === "ticks") {
        this.drawStrokes(inside, box, series, look);
        return 0;
      }
      if (series.half) this.drawBand(inside, box, series, look);
      if (series.shape === "outline") {
        const corners = Array.from(series.x, (x, i) => `${box.toX(x).toFixed(1)} ${box.toY(series.y[i]).toFixed(1)}`);
        inside.append(make("path", { class: `outline ${look}`, d: `M${corners.join("L")}z` }));
        return 0;
      }
      const d = path(series, box);
      if (!d) return 0;
      const thin = this.byRun && this.entries.length < this.figure.subjects.length;
      const kind = `${series.dashed ? "dashed " : ""}${this.entries.length > DISTINCT || thin ? "thin " : ""}`;
      inside.append(make("path", { class: `line ${kind}${look}`, d }));
      if (series.role === "subject" && !series.dashed && this.entries.length <= DISTINCT) {
        // One subject alone needs no marker but where no line reaches a mean.
        const alone = series.half ? pieces(series.y).filter((piece) => piece.length < 2).flat() : [];
        if (this.entries.length > 1) this.drawMarks(inside, box, series, look);
        else if (alone.length) {
          const at = alone.map((i) => ccperf.marker(this.lookOf(0), box.toX(series.x[i]), box.toY(series.y[i]), 3.5));
          inside.append(make("path", { class: `mark ${look}`, d: at.join("") }));
        }
      }
      return 1;
    }

    // Events at the bottom; those on one half of a pixel are one stroke.
    drawStrokes(inside, { left, top, width, height, toX }, series, look) {
      const bottom = top + height;
      const seen = new Set();
      let d = "";
      for (const x of series.x) {
        const at = Math.round(toX(x) * 2) / 2;
        if (at < left || at > left + width || seen.has(at)) continue;
        seen.add(at);
        d += `M${at} ${bottom}v-${STROKES[(series.rank ?? 0) % STROKES.length]}`;
      }
      if (d) inside.append(make("path", { class: `stroke ${look}`, d }));
    }

    drawBand(inside, box, series, look) {
      let band = "", bars = "";
      for (const piece of pieces(series.y)) {
        const up = [], down = [];
        for (const i of piece) {
          const [from, to] = interval(series, i, box.panel.y), x = box.toX(series.x[i]).toFixed(1);
          up.push(`${x} ${box.toY(to).toFixed(1)}`);
          down.unshift(`${x} ${box.toY(from).toFixed(1)}`);
        }
        // A band of one point has no width.
        if (piece.length > 1) band += `M${[...up, ...down].join("L")}z`;
        else bars += `M${up}L${down}`;
      }
      if (band) inside.append(make("path", { class: `band ${look}`, d: band }));
      if (bars) inside.append(make("path", { class: `stroke ${look}`, d: bars }));
    }

    // A few points of a series carry its marker, so that colour is not all that tells them apart.
    drawMarks(inside, box, series, look) {
      const entry = this.lookOf(this.entryOf[series.subject]);
      const turn = (series.subject + 0.5) / this.figure.subjects.length;
      const few = series.x.length <= 12;
      let d = "";
      for (let m = 0; m < (few ? series.x.length : 6); m++) {
        const x = box.domain[0] + (box.domain[1] - box.domain[0]) * (m + turn) / 6;
        const i = few ? m : Math.min(search(series.x, x), series.x.length - 1);
        const y = series.y[i];
        if (series.shape === "ecdf" && !few) {
          const at = Math.min(series.x.length - 1, Math.floor(series.x.length * (m + turn) / 6));
          d += ccperf.marker(entry, box.toX(series.x[at]), box.toY(series.y[at]), 3.5);
        } else if (Number.isFinite(y)) d += ccperf.marker(entry, box.toX(series.x[i]), box.toY(y), 3.5);
      }
      if (d) inside.append(make("path", { class: `mark ${look}`, d }));
    }

    drawPoints(svg, box, series, look) {
      const entry = series.role === "subject" ? this.lookOf(this.entryOf[series.subject]) : series.role;
      const radius = series.role === "optimum" ? 8 : series.small ? 2.6 : 5;
      let d = "", bars = "", count = 0;
      for (let i = 0; i < series.x.length; i++) {
        const { x, y } = { x: series.x[i], y: series.y[i] };
        if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
        if (series.half?.[i] && x >= box.domain[0] && x <= box.domain[1]) {
          const ends = interval(series, i, box.panel.y).map((end) => box.toY(Math.min(box.y[1], Math.max(box.y[0], end))).toFixed(1));
          bars += `M${box.toX(x).toFixed(1)} ${ends[0]}V${ends[1]}`;
        }
        if (x < box.domain[0] || x > box.domain[1] || y < box.y[0] || y > box.y[1]) continue;
        d += ccperf.marker(series.role === "subject" && this.entries.length > DISTINCT ? 0 : entry, box.toX(x), box.toY(y), radius);
        count++;
      }
      if (bars) svg.append(make("path", { class: `stroke ${look}`, d: bars }));
      if (d) svg.append(make("path", { class: `mark ${look}`, d }));
      return count;
    }

    // The cursor in all panels; what it says only where the pointer or the focus is.
    drawCursor(own) {
      const { cursor } = this.link;
      this.boxes?.forEach((box, i) => {
        const group = this.cursors[i];
        group.replaceChildren();
        if (cursor === null || (this.figure.beside && i !== this.active)) return;
        if (cursor < box.domain[0] || cursor > box.domain[1]) return;
        const x = box.toX(cursor);
        group.append(make("path", { class: "hair", d: `M${x} ${box.top}v${box.height}` }));
        for (const { series, y } of this.valuesAt(box, cursor)) {
          if (series.shape === "ticks" || y < box.y[0] || y > box.y[1]) continue;
          group.append(make("circle", { class: `mark ${this.classOf(series)}`, cx: x, cy: box.toY(y), r: 3 }));
        }
      });
      this.showReadout(own);
    }

    nameOf(series) {
      const subject = this.figure.subjects[series.subject];
      const own = series.label ? `${series.label} ` : "";
      if (series.role !== "subject") return this.figure.roles.find(([role]) => role === series.role)?.[1] ?? series.role;
      return `${own}${subject.run ? `${subject.run}${this.entries.length < this.figure.subjects.length ? `, ${subject.name}` : ""}` : subject.name}`;
    }

    valuesAt(box, cursor) {
      const found = [];
      const near = (box.domain[1] - box.domain[0]) / box.width * 4;
      for (const series of box.panel.series) {
        if (!this.isShown(series) || series.shape === "points" || series.shape === "outline" || !series.x.length) continue;
        let i = search(series.x, cursor);
        if (series.shape === "ecdf") i = Math.max(0, search(series.x, cursor + 1e-12) - 1);
        else if (series.shape !== "step" && i > 0 && (i === series.x.length || cursor - series.x[i - 1] < series.x[i] - cursor)) i--;
        if (i >= series.x.length) continue;
        if (series.shape === "ticks" && Math.abs(series.x[i] - cursor) > near) continue;
        const y = series.y[i];
        if (Number.isFinite(y)) found.push({ series, y, half: series.half?.[i], ends: interval(series, i, box.panel.y) });
      }
      return found;
    }

    showReadout(own) {
      const { cursor } = this.link;
      const box = this.boxes?.[this.active];
      this.readout.hidden = true;
      if (!own || !box) return;
      const rows = [];
      let head = "";
      if (this.nearest) {
        const { series, x, y } = this.nearest;
        head = this.nameOf(series);
        rows.push([this.classOf(series), box.panel.y.label, said(box.panel.y, y)]);
        rows.push([this.classOf(series), box.panel.x.label, said(box.panel.x, x)]);
      } else {
        if (cursor === null || cursor < box.domain[0] || cursor > box.domain[1]) return;
        const values = this.valuesAt(box, cursor);
        const name = box.panel.x.labels?.[Math.round(cursor)];
        head = `${box.panel.x.label} ${name ?? ccperf.format(box.panel.x.isLog ? 10 ** cursor : cursor, box.panel.x.unit)}`;
        for (const { series, y, half, ends } of values.slice(0, 12)) {
          const spread = () => (box.panel.y.isFactor ? ` (${ends.map((end) => ccperf.format(end)).join(" to ")})` : ` ± ${ccperf.format(half, box.panel.y.unit)}`);
          const unit = series.shape === "ticks" ? "" : box.panel.y.unit;
          rows.push([this.classOf(series), this.nameOf(series), said(box.panel.y, y, unit) + (half ? spread() : "")]);
        }
        if (values.length > 12) rows.push(["", `and ${values.length - 12} more`, ""]);
        if (!values.length && box.panel.series.every((series) => ["points", "outline"].includes(series.shape))) return;
      }
      this.readout.replaceChildren(html("strong", { textContent: head }),
        ...rows.map(([look, name, value]) => html("span", { className: "row" },
          html("i", { className: look }), html("span", { textContent: name }), html("b", { textContent: value }))));
      this.readout.hidden = false;
      const at = this.nearest ? box.toX(this.nearest.x) : box.toX(cursor);
      const wide = this.readout.offsetWidth;
      const right = at + 14 + wide < this.area.clientWidth;
      this.readout.style.left = `${Math.max(0, right ? at + 14 : at - 14 - wide)}px`;
      this.readout.style.top = `${Math.max(0, box.top + 6)}px`;
      this.text = `${head}: ${rows.map(([, name, value]) => `${name} ${value}`).join(", ")}`;
    }

    listen() {
      const place = (event) => {
        const bounds = this.area.getBoundingClientRect();
        return [event.clientX - bounds.left, event.clientY - bounds.top];
      };
      const boxAt = (x, y) => {
        const inside = this.boxes.findIndex((box) =>
          x >= box.left - 12 && x <= box.left + box.width + 12 && y >= box.top - 6 && y <= box.top + box.height + 24);
        return inside;
      };
      const valueAt = (box, x) => Math.min(box.domain[1], Math.max(box.domain[0],
        box.domain[0] + (x - box.left) / box.width * (box.domain[1] - box.domain[0])));
      let start = null;
      this.area.addEventListener("pointermove", (event) => {
        const [x, y] = place(event);
        if (start) { this.select(start, x); return; }
        const index = boxAt(x, y);
        if (index < 0) { this.nearest = null; this.link.point(null, this); return; }
        this.active = index;
        const box = this.boxes[index];
        this.nearest = this.nearestPoint(box, x, y);
        const plane = box.panel.series.every((series) => ["points", "outline"].includes(series.shape));
        const value = valueAt(box, x);
        this.link.point(plane ? null : box.panel.x.labels?.length ? Math.round(value) : value, this);
      });
      this.area.addEventListener("pointerleave", () => { this.nearest = null; if (!start) this.link.point(null, this); });
      this.area.addEventListener("pointerdown", (event) => {
        const [x, y] = place(event);
        const index = boxAt(x, y);
        if (event.button !== 0 || index < 0) return;
        this.active = index;
        start = { x, box: this.boxes[index], index };
        try { this.area.setPointerCapture(event.pointerId); } catch { /* it has gone already */ }
      });
      this.area.addEventListener("pointerup", (event) => {
        if (!start) return;
        const [x] = place(event);
        const { box, x: from, index } = start;
        start = null;
        this.band?.remove();
        if (Math.abs(x - from) < 6) return;
        const ends = [valueAt(box, from), valueAt(box, x)].sort((a, b) => a - b);
        if (ends[1] - ends[0] > 1e-9 * (box.full[1] - box.full[0])) { this.zoomed = index; this.link.zoom(ends); }
      });
      this.area.addEventListener("pointercancel", () => { start = null; this.band?.remove(); });
      this.area.addEventListener("dblclick", () => this.link.zoom(null));
      this.area.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.scale(event.deltaY > 0 ? 1.25 : 0.8);
      }, { passive: false });
      this.area.addEventListener("keydown", (event) => this.onKey(event));
      this.area.addEventListener("blur", () => this.link.point(null, this));
    }

    onKey(event) {
      const box = this.boxes[this.active] ?? this.boxes[0];
      const [low, high] = box.domain;
      const step = box.panel.x.labels?.length ? 1 : (high - low) / (event.shiftKey ? 10 : 100);
      const from = this.link.cursor ?? low;
      const moves = {
        ArrowRight: Math.min(high, from + step), ArrowLeft: Math.max(low, from - step), Home: low, End: high,
      };
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key in moves) {
        this.nearest = null;
        this.link.point(moves[event.key], this);
        clearTimeout(this.saying);
        this.saying = setTimeout(() => { this.said.textContent = this.text ?? ""; }, 300);
      } else if (event.key === "+" || event.key === "=") this.scale(0.5);
      else if (event.key === "-") this.scale(2);
      else if (event.key === "0" || event.key === "Escape") this.link.zoom(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    // Zoom around the cursor, or the middle.
    scale(factor) {
      const box = this.boxes[this.active] ?? this.boxes[0];
      const [low, high] = box.domain;
      const centre = this.link.cursor ?? (low + high) / 2;
      const next = [centre - (centre - low) * factor, centre + (high - centre) * factor];
      const [first, last] = box.full;
      this.zoomed = this.active;
      if (next[1] - next[0] >= last - first) { this.link.zoom(null); return; }
      const shift = Math.max(0, first - next[0]) - Math.max(0, next[1] - last);
      this.link.zoom([next[0] + shift, next[1] + shift]);
    }

    select(start, x) {
      this.band?.remove();
      const { box } = start;
      const [a, b] = [start.x, Math.min(box.left + box.width, Math.max(box.left, x))].sort((p, q) => p - q);
      this.band = make("rect", { class: "selection", x: a, y: box.top, width: b - a, height: box.height });
      this.area.querySelector("svg").append(this.band);
    }

    nearestPoint(box, x, y) {
      let best = null, least = 24 ** 2;
      for (const series of box.panel.series) {
        if (series.shape !== "points" || !this.isShown(series)) continue;
        for (let i = 0; i < series.x.length; i++) {
          const away = (box.toX(series.x[i]) - x) ** 2 + (box.toY(series.y[i]) - y) ** 2;
          if (away < least) { least = away; best = { series, x: series.x[i], y: series.y[i] }; }
        }
      }
      return best;
    }
  };
}
