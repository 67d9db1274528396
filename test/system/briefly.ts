/*
 * Preloaded by the short-lived processes of tests: WebAssembly stays as V8 first compiles it. A start then takes two thirds of the
 * processor time, and the servers of tests do too little to win that back. A flag on the command line would do the same, but
 * with any of them V8 takes neither Node's own compiled code nor what it has kept of the bundle (NODE_COMPILE_CACHE).
 */
import { setFlagsFromString } from "node:v8";

/** Node has it; the compiler's libraries declare it only for browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<unknown> };

const { compile } = WebAssembly;
WebAssembly.compile = (bytes) => {
  for (const flag of ["--no-wasm-dynamic-tiering", "--no-wasm-tier-up"]) setFlagsFromString(flag);
  return compile(bytes);
};
