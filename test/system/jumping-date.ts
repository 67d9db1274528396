import { readFileSync } from "node:fs";

/*
 * Loaded into a server before it starts (`--import`): moves this process's time of day as far ahead as the file says
 * that CLOCK_FILE names, as an NTP step or a resumed virtual machine does.
 */

const RealDate = Date;
let aheadMs = 0;

class JumpingDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(JumpingDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

globalThis.Date = JumpingDate as DateConstructor;

setInterval(() => {
  aheadMs = Number(readFileSync(process.env.CLOCK_FILE as string, "utf8")) || 0;
}, 20).unref();
