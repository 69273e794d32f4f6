"use strict";

// What runs beside the page: the engine in WebAssembly (crates/wasm). The page makes a worker of the
// text of this function, since a browser reads no further file from a folder.
//
// Messages in: { module }, { id, settings_of: scenario }, { id, scenario, settings } (texts of JSON),
// { cancel: id }, { seen: ms that drawing took }. Messages out: { id, settings }, { id, opened }, { id, block, now, stop, is_done },
// { id, cancelled }, { id, problems } or { id, failed }; a block is what crates/wasm/src/pack.rs says.
globalThis.ccperf ??= {};

ccperf.liveWorker = function () {
  const MORE = 1, FAILED = 2;
  const EVENTS = 20000;    // then messages are looked for
  const EVERY_MS = 120;    // tables so far
  let engine = null;
  let waiting = null;      // what is to be simulated next
  let running = null;      // the id of what is being simulated
  let unseen = false;      // tables are on their way to the page
  let pause = EVERY_MS;    // longer where drawing takes longer

  const text = () => new TextDecoder().decode(bytes());
  const bytes = () => new Uint8Array(engine.memory.buffer, engine.output(), engine.output_length());
  const give = (words) => {
    const data = new TextEncoder().encode(words);
    const place = engine.input(data.length);
    new Uint8Array(engine.memory.buffer).set(data, place);
    return data.length;
  };
  const complain = (id) => {
    const said = text();
    let problems = null;
    try { problems = JSON.parse(said); } catch { /* a text, not problems of a scenario */ }
    postMessage(Array.isArray(problems) ? { id, problems } : { id, failed: said });
  };
  const tables = (id, is_done, now, stop) => {
    const block = bytes().slice().buffer;
    postMessage({ id, block, is_done, now, stop }, [block]);
  };

  // Lets messages in; a timeout would wait for four milliseconds.
  const channel = new MessageChannel();
  const breathe = () => new Promise((resolve) => {
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(0);
  });

  const simulate = async ({ id, scenario, settings }) => {
    const length = new TextEncoder().encode(scenario).length;
    give(scenario + settings);
    if (engine.open(length) === FAILED) { complain(id); return; }
    postMessage({ id, opened: text() });
    const began = performance.now();
    let shown = began;
    for (;;) {
      const status = engine.advance(EVENTS);
      if (status === FAILED) { complain(id); return; }
      const times = new DataView(bytes().slice().buffer);
      const [now, stop] = [0, 8].map((at) => Number(times.getBigUint64(at, true)));
      if (status !== MORE) break;
      await breathe();
      if (running !== id) { postMessage({ id, cancelled: true }); return; }
      const since = performance.now();
      // Who drags a slider sees each setting for a moment, if only its beginning.
      const is_due = since - shown >= pause || (waiting && since - began >= EVERY_MS / 2);
      if (!is_due) continue;
      if (!unseen) {
        shown = since;
        unseen = true;
        engine.so_far();
        tables(id, false, now, stop);
      }
      if (waiting) { postMessage({ id, cancelled: true }); return; }
    }
    const stop = Number(new DataView(bytes().slice().buffer).getBigUint64(8, true));
    if (engine.finish() === FAILED) { complain(id); return; }
    tables(id, true, stop, stop);
  };

  const work = async () => {
    while (waiting) {
      const job = waiting;
      waiting = null;
      running = job.id;
      try {
        await simulate(job);
      } catch (error) {
        // A trap ends the instance; what the engine had to say is still there.
        let said = String(error);
        try { said = text() || said; } catch { /* nothing is left to ask */ }
        postMessage({ id: job.id, failed: said, is_over: true });
      }
      running = null;
    }
  };

  globalThis.onmessage = async ({ data }) => {
    if (data.module) {
      engine = (await WebAssembly.instantiate(data.module, {})).exports;
    } else if (data.settings_of !== undefined) {
      give(data.settings_of);
      if (engine.settings() === FAILED) complain(data.id);
      else postMessage({ id: data.id, settings: JSON.parse(text()) });
    } else if (data.seen !== undefined) {
      unseen = false;
      pause = Math.max(EVERY_MS, 3 * data.seen);
    } else if (data.cancel !== undefined) {
      if (waiting?.id === data.cancel) { waiting = null; postMessage({ id: data.cancel, cancelled: true }); }
      if (running === data.cancel) running = -1;
    } else {
      if (waiting) postMessage({ id: waiting.id, cancelled: true });
      waiting = data;
      if (running === null) await work();
    }
  };
};
