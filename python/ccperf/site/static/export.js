"use strict";

// Figures as files: what is drawn, with its legend and its title, as SVG or PNG; looks become
// attributes, since a file has no style sheet of ours.
globalThis.ccperf ??= {};
{
  const SVG = "http://www.w3.org/2000/svg";
  const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-family"];
  const SCALE = 3; // pixels of a PNG for one of the page

  const make = (name, attributes, ...children) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const dressed = (from) => {
    const copy = from.cloneNode(true);
    const originals = [from, ...from.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
      const style = getComputedStyle(originals[i]);
      if (["path", "text", "rect", "circle"].includes(element.localName)) {
        for (const look of LOOKS) {
          const value = style.getPropertyValue(look);
          if (value && (element.localName === "text" || !look.startsWith("font"))) element.setAttribute(look, value);
        }
      }
      element.removeAttribute("class");
    });
    return copy;
  };

  // The whole figure: title, legend in rows, panels.
  const whole = (plot) => {
    const drawn = plot.area.querySelector("svg");
    const [width, height] = ["width", "height"].map((name) => Number(drawn.getAttribute(name)));
    const style = getComputedStyle(plot.host);
    const look = { fill: style.color, "font-family": style.fontFamily };
    const parts = [make("text", { x: 8, y: 18, "font-size": 14, "font-weight": 600, ...look }, plot.figure.title)];
    let x = 8, y = 36;
    for (const button of plot.legend.querySelectorAll("button[aria-pressed='true']")) {
      const label = button.textContent, room = 36 + 7 * label.length;
      if (x + room > width && x > 8) { x = 8; y += 18; }
      const handle = dressed(button.querySelector("svg"));
      handle.setAttribute("x", x);
      handle.setAttribute("y", y - 10);
      parts.push(handle, make("text", { x: x + 27, y, "font-size": 12, ...look }, label));
      x += room;
    }
    const top = parts.length > 1 ? y + 8 : 26;
    const inner = dressed(drawn);
    inner.setAttribute("y", top);
    for (const group of inner.querySelectorAll("g:empty")) group.remove();
    const paper = getComputedStyle(document.body).backgroundColor;
    const total = top + height;
    return make("svg", { xmlns: SVG, width, height: total, viewBox: `0 0 ${width} ${total}` },
      make("rect", { width, height: total, fill: paper }), ...parts, inner);
  };

  ccperf.exportSvg = (plot) => new XMLSerializer().serializeToString(whole(plot));
  ccperf.exportPng = async (plot) => {
    const figure = whole(plot);
    const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(figure)], { type: "image/svg+xml" }));
    try {
      const image = new Image();
      image.src = address;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), {
        width: SCALE * Number(figure.getAttribute("width")), height: SCALE * Number(figure.getAttribute("height")),
      });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
    } finally { URL.revokeObjectURL(address); }
  };
}
