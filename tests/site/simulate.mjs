// Simulates with the engine for browsers: a scenario in canonical JSON a line comes in, a line goes out with the
// SHA-256 of its packed tables, or with what went wrong.
//
//     node simulate.mjs engine.wasm < scenarios

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
let engine;

function answer() {
  return new Uint8Array(engine.memory.buffer, engine.output(), engine.output_length());
}

function simulated(scenario) {
  engine ??= new WebAssembly.Instance(module, {}).exports;
  const bytes = new TextEncoder().encode(scenario);
  const place = engine.input(bytes.length);
  new Uint8Array(engine.memory.buffer).set(bytes, place);
  try {
    if (engine.open(bytes.length) === 1 && engine.finish() === 0) {
      return createHash("sha256").update(answer()).digest("hex");
    }
    return `refused: ${new TextDecoder().decode(answer())}`;
  } catch (trap) {
    const message = new TextDecoder().decode(answer()) || trap.message;
    // A panic ends the instance.
    engine = undefined;
    return `failed: ${message}`;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(simulated(line).replaceAll("\n", " "));
}
