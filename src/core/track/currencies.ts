import data from "cldr-core/supplemental/currencyData.json" with { type: "json" };

/*
 * ISO 4217 codes and until when each was in use. Unicode keeps the list up, with the dates in each country
 * (`cldr-core`, twice a year); here is what differs from ISO 4217. docs/decisions/money.md
 */

/** Of Unicode alone: codes that traders use, or of before ISO 4217. */
const NOT_IN_ISO: ReadonlySet<string> = new Set(
  "ARL ARM BAN BGM BGO BOL BRZ CLE CNH CNX KRH KRO MAF MCF MDC MKN VNN YUR".split(" "),
);

const ALWAYS = "9999-12-31";

/** Where ISO 4217 has a code, or has it longer, than the money was legal tender. */
const LONGER_IN_ISO: Readonly<Record<string, string>> = {
  SVC: ALWAYS,
  ADP: "2003-07-31",
  AYM: "2005-10-31",
  CHC: "2004-11-30",
  RUR: "2004-01-31",
  XFO: "2006-10-31",
  YUM: "2003-07-31",
  ZWN: "2008-08-01",
};

/** Every country has its own clock: a day has ended everywhere 36 hours after its date begins in UTC. */
const DAY_EVERYWHERE_MS = 36 * 3_600_000;

/** The last moment of each code. */
const UNTIL: ReadonlyMap<string, number> = readList();

interface Use {
  readonly _from?: string;
  readonly _to?: string;
  readonly _tender?: string;
}

/** By country, then by code. */
type Regions = Readonly<Record<string, readonly Readonly<Record<string, Use>>[]>>;

function readList(): ReadonlyMap<string, number> {
  const until = new Map(Object.entries(LONGER_IN_ISO));
  const regions: Regions = data.supplemental.currencyData.region;
  for (const used of Object.values(regions).flat()) {
    for (const [code, { _to = ALWAYS }] of Object.entries(used)) {
      if (!NOT_IN_ISO.has(code) && _to > (until.get(code) ?? "")) until.set(code, _to);
    }
  }
  return new Map([...until].map(([code, date]) => [code, Date.parse(date) + DAY_EVERYWHERE_MS]));
}

/** Whether a code in upper case was in use at a time, or later: a code may be used before its money. */
export const isCurrency = (code: string, at: Date): boolean =>
  at.getTime() < (UNTIL.get(code) ?? Number.NEGATIVE_INFINITY);

/** The date on which a code ended that was withdrawn before a time, as ISO 8601; undefined for any other text. */
export function endOfCurrency(code: string, at: Date): string | undefined {
  const until = UNTIL.get(code);
  if (until === undefined || until > at.getTime()) return undefined;
  return new Date(until - DAY_EVERYWHERE_MS).toISOString().slice(0, 10);
}
