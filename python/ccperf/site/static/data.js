"use strict";

// Data of pages. A browser fetches nothing from a folder, but it runs scripts: a file of data calls
// ccperf.receive(name, value), or ccperf.inflate(name, size, text) with what is compressed, and
// ccperf.load(file, name) waits for that.
globalThis.ccperf ??= {};
{
  const values = new Map();
  const waiting = new Map();

  ccperf.receive = (name, value) => {
    values.set(name, value);
    for (const [resolve] of waiting.get(name) ?? []) resolve(value);
    waiting.delete(name);
  };
  const refuse = (name, error) => {
    for (const [, reject] of waiting.get(name) ?? []) reject(error);
    waiting.delete(name);
  };

  // Fifteen bits a character (site/deflated.py).
  const bytesOf = (text, size) => {
    const bytes = new Uint8Array(size);
    for (let at = 0, next = 0, bits = 0, count = 0; at < size; at++) {
      if (count < 8) {
        bits = (bits << 15) | (text.charCodeAt(next++) - 0x100);
        count += 15;
      }
      count -= 8;
      bytes[at] = bits >> count;
    }
    return bytes;
  };

  // Compressed by zlib to `size` bytes: JSON, or what `as` says ("text", "arrayBuffer").
  ccperf.inflate = async (name, size, text, as = "json") => {
    try {
      const stream = new Blob([bytesOf(text, size)]).stream().pipeThrough(new DecompressionStream("deflate"));
      ccperf.receive(name, await new Response(stream)[as]());
    } catch (error) { refuse(name, new Error(`this browser cannot inflate the data of this page: ${error.message}`)); }
  };

  ccperf.load = (file, name) => new Promise((resolve, reject) => {
    if (values.has(name)) { resolve(values.get(name)); return; }
    if (!waiting.has(name)) waiting.set(name, []);
    waiting.get(name).push([resolve, reject]);
    const script = document.createElement("script");
    script.src = file;
    script.addEventListener("error", () => {
      script.remove();
      refuse(name, new Error(`${file} cannot be read`));
    });
    document.head.append(script);
  });

  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const digit = new Uint8Array(128);
  [...DIGITS].forEach((char, value) => { digit[char.charCodeAt(0)] = value; });

  // [low, high, text] as numbers: text has a number of `digits` digits for each, least digit first;
  // the largest of all stands for no value. Without text every value is `low`.
  const numbers = ([low, high, text], digits, count) => {
    const found = new Float64Array(text ? text.length / digits : count).fill(low ?? NaN);
    if (!text) return found;
    const largest = 64 ** digits - 1;
    for (let i = 0; i < found.length; i++) {
      let code = 0;
      for (let d = digits - 1; d >= 0; d--) code = code * 64 + digit[text.charCodeAt(i * digits + d)];
      found[i] = code === largest ? NaN : low + (high - low) * (code / (largest - 1));
    }
    return found;
  };

  // A scenario as it is stored (site/drawing.py): the first of a list's rows says what the others
  // have in common.
  ccperf.expand = (scenario) => {
    const whole = ([common, ...rows]) => rows.map((row) => ({ ...common, ...row }));
    return { ...scenario, links: whole(scenario.links), flows: whole(scenario.flows) };
  };

  // A run as it is stored becomes one that figures are made of; see quantities.js.
  ccperf.unpack = (packed) => {
    const { start, step, count, width, digits } = packed;
    const every = Float64Array.from({ length: count }, (_, i) => start + step * i);
    const buckets = Math.ceil(count / width);
    // Of each bucket the least and the greatest value stand a quarter and three quarters into it.
    const pairs = Float64Array.from({ length: 2 * buckets }, (_, i) => {
      const first = Math.floor(i / 2) * width;
      const within = Math.min(width, count - first) - 1;
      return start + step * (first + within * (i % 2 ? 0.75 : 0.25));
    });
    const ends = Float64Array.from({ length: buckets }, (_, i) =>
      start + step * (Math.min(count, (i + 1) * width) - 1));
    const columns = {};
    for (const [name, series] of packed.columns) {
      const events = ccperf.layout.quantities[name]?.shape === "ticks";
      const x = width === 1 ? every : events ? ends : pairs;
      columns[name] = series.map((one) => ({ x, y: numbers(one, digits, x.length) }));
    }
    const quantiles = {};
    for (const [name, series] of packed.quantiles) {
      quantiles[name] = series.map((one) => numbers(one, digits, 2));
    }
    return {
      id: packed.id, name: packed.name, algorithm: packed.algorithm, answers: packed.answers, seed: packed.seed, columns, quantiles,
      flows: packed.flows.map(([name, algorithm]) => ({ name, algorithm })),
      links: packed.links.map((name) => ({ name })),
      all: packed.all, leftOut: packed.left_out, means: packed.means, begins: start - step, end: start + step * (count - 1),
    };
  };
}
