import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";

/*
 * The code of the embedded engine: 9 MB of WebAssembly, and a start runs a small part of it. All engines of a process
 * share one compiled module, and with it the machine code of every function that any of them has run.
 */

/**
 * - V8 compiles a function twice: quickly when it first runs, and again with optimizations when it
 *   has run often. The default is so early that a start spends a third of its processor time on
 *   optimizing code that only a start runs. With 50 times that budget a function of the write path
 *   is still optimized within the first second of load. - A function is validated when it is
 *   compiled, so that functions that never run are not read at all.
 */
const FLAGS = ["--wasm-tiering-budget=100000000", "--wasm-lazy-validation"];

/** A compiled module, which threads can share. */
export type EngineCode = { readonly [Symbol.toStringTag]: string };

/** Node has it; the compiler's libraries declare it only for browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<EngineCode> };

let code: Promise<EngineCode> | undefined;

/** The engine's compiled code; the first call reads and compiles it. */
export const engineCode = (): Promise<EngineCode> => (code ??= compile());

async function compile(): Promise<EngineCode> {
  for (const flag of FLAGS) setFlagsFromString(flag);
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  return WebAssembly.compile(await readFile(join(dirname(entry), "pglite.wasm")));
}
