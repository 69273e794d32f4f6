"use strict";

// The engine, for pages:
//
//   const engine = await ccperf.Engine.start(root);
//   await engine.settings(scenario)                          // what the scenario has
//   await engine.simulate(scenario, settings, onTables)      // { scenario, tables, wall }
//   engine.cancel()
//
// Scenario and settings are objects; onTables(tables, now, stop) is called while it runs, with what is
// recorded until then. Rejects with an Error that has `problems` ([{ path, message }]) or `cancelled`.
globalThis.ccperf ??= {};
{
  // The module is data of the site as the rest: in a folder nothing can be fetched.
  const compiled = async (root) =>
    WebAssembly.compile(await ccperf.load(`${root}static/engine.js`, "engine"));

  // See crates/wasm/src/pack.rs.
  ccperf.unpackTables = (block) => {
    const view = new DataView(block);
    let at = 0;
    const number = () => { const value = Number(view.getBigInt64(at, true)); at += 8; return value; };
    const word = () => {
      const length = number();
      const text = new TextDecoder().decode(new Uint8Array(block, at, length));
      at += Math.ceil(length / 8) * 8;
      return text;
    };
    const values = (rows) => {
      const kind = number();
      if (kind === 2) return Array.from({ length: rows }, word);
      const found = new (kind === 0 ? BigInt64Array : Float64Array)(block, at, rows);
      at += 8 * rows;
      return found;
    };
    const tables = {};
    for (let count = number(); count > 0; count--) {
      const name = word(), rows = number(), columns = number();
      tables[name] = {};
      for (let i = 0; i < columns; i++) { const column = word(); tables[name][column] = values(rows); }
    }
    return tables;
  };

  ccperf.Engine = class {
    static async start(root) {
      const engine = new ccperf.Engine();
      engine.module = await compiled(root);
      engine.restart();
      return engine;
    }

    restart() {
      this.worker?.terminate();
      for (const { reject } of this.jobs?.values() ?? []) reject(new Error("the engine was started anew"));
      this.jobs = new Map();
      const source = new Blob([`"use strict";(${ccperf.liveWorker})();`], { type: "text/javascript" });
      const address = URL.createObjectURL(source);
      this.worker = new Worker(address);
      this.worker.addEventListener("message", ({ data }) => this.hear(data));
      this.worker.addEventListener("error", (event) => this.end(event.message || "the worker ended"));
      this.worker.postMessage({ module: this.module });
      URL.revokeObjectURL(address);
    }

    // An engine that has failed is not asked again: whatever was under way fails, too.
    end(message) {
      const jobs = this.jobs;
      this.jobs = new Map();
      for (const { reject } of jobs.values()) reject(new Error(message));
      this.restart();
    }

    ask(message, onTables) {
      this.last = (this.last ?? 0) + 1;
      const id = this.last;
      return new Promise((resolve, reject) => {
        this.jobs.set(id, { resolve, reject, onTables, began: performance.now() });
        this.worker.postMessage({ id, ...message });
      });
    }

    settings(scenario) { return this.ask({ settings_of: JSON.stringify(scenario) }); }

    simulate(scenario, settings, onTables) {
      return this.ask({ scenario: JSON.stringify(scenario), settings: JSON.stringify(settings) }, onTables);
    }

    cancel() { for (const id of this.jobs.keys()) this.worker.postMessage({ cancel: id }); }

    hear(data) {
      const job = this.jobs.get(data.id);
      if (!job) { if (data.block) this.worker.postMessage({ seen: 0 }); return; }
      const finish = (act, value) => { this.jobs.delete(data.id); act(value); };
      if (data.settings) finish(job.resolve, data.settings);
      else if (data.opened) job.scenario = JSON.parse(data.opened);
      else if (data.block) {
        const tables = ccperf.unpackTables(data.block);
        const { scenario } = job;
        if (!data.is_done) {
          const began = performance.now();
          job.onTables?.(tables, scenario, data.now, data.stop);
          this.worker.postMessage({ seen: performance.now() - began });
        } else finish(job.resolve, { scenario, tables, wall: performance.now() - job.began });
      } else if (data.cancelled) finish(job.reject, Object.assign(new Error("cancelled"), { cancelled: true }));
      else if (data.problems) {
        const said = data.problems.map(({ path, message }) => (path ? `${path}: ${message}` : message));
        finish(job.reject, Object.assign(new Error(said.join("\n")), { problems: data.problems }));
      } else {
        finish(job.reject, new Error(`The simulation failed: ${data.failed}`));
        if (data.is_over) this.restart();
      }
    }
  };
}
