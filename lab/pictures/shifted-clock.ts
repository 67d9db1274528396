/*
 * The time of this process, moved: a server in it counts an hour of requests within seconds. To be imported before
 * the server is created, because parts of it keep `Date.now`.
 */
const RealDate = Date;

let shiftMs = 0;

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(ShiftedDate.now());
    else super(...(given as [number]));
  }

  /** Those that come from another thread are dates, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof RealDate;
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;

/** Sets the time, which then goes on; without one, it is right again. */
export function setClock(to?: number): void {
  shiftMs = to === undefined ? 0 : to - RealDate.now();
}
