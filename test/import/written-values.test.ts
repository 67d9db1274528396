/* How `rapport import` reads what people write into files: headings, numbers and dates. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  addToFacts,
  type ColumnOptions,
  describeColumns,
  inferColumns,
  noFacts,
  objectOf,
  READERS,
  readersWith,
  readHeadings,
} from "../../src/features/import/cli/columns.ts";
import { readDate, readDayOrder } from "../../src/features/import/cli/written-dates.ts";
import { plainNumber } from "../../src/features/import/cli/written-numbers.ts";
import type { ImportKind } from "../../src/features/import/import-kind.ts";

const NO_OPTIONS: ColumnOptions = {
  map: new Map(),
  types: new Map(),
  trim: false,
  decimal: undefined,
  dateFormat: undefined,
};

/** The columns of a file with these lines. */
function columnsOf(
  lines: readonly (readonly string[])[],
  options: Partial<ColumnOptions> = {},
  kind: ImportKind = "users",
) {
  const all = { ...NO_OPTIONS, ...options };
  const [header = [], ...rows] = lines;
  const headings = readHeadings(header, all);
  const facts = headings.map(noFacts);
  for (const row of rows) {
    for (const [index, text] of row.entries()) {
      const fact = facts[index];
      if (fact) addToFacts(fact, text, all.decimal);
    }
  }
  return inferColumns(kind, headings, facts, all);
}

const fieldsOf = (headings: readonly string[], options: Partial<ColumnOptions> = {}) =>
  columnsOf([headings], options).map(({ path }) => path?.join("."));

/** What the rows below a header become. */
function rowsOf(
  lines: readonly (readonly string[])[],
  options: Partial<ColumnOptions> = {},
  kind: ImportKind = "users",
) {
  const columns = columnsOf(lines, options, kind);
  const readers = readersWith(options.decimal);
  return lines.slice(1).map((line) => objectOf(columns, line, readers));
}

describe("a heading", () => {
  const MEANINGS: Readonly<Record<string, readonly string[]>> = {
    external_id: [
      "Customer ID",
      "customer-id",
      "CUSTOMER_ID",
      "CustomerId",
      "User ID",
      "Kundennummer",
      "ID",
    ],
    email: ["E-Mail Address", "Email", "e-mail", "EMAIL ADDRESS", "E-Mail-Adresse", "emailAddress"],
    phone: ["Phone Number", "phone", "Telephone", "Mobile Phone", "Telefonnummer", "Handy"],
    first_name: ["First Name", "firstName", "FIRSTNAME", "first-name", "Vorname"],
    last_name: ["Last Name", "Surname", "Nachname"],
    dob: ["Date of Birth", "Birthday", "Geburtsdatum", "DOB"],
    home_city: ["Home City", "City"],
    country: ["Country", "Land"],
    time_zone: ["Time Zone", "TimeZone"],
  };
  for (const [field, headings] of Object.entries(MEANINGS)) {
    test(`a heading that people write for ${field} is read as it`, () => {
      for (const heading of headings) assert.deepEqual(fieldsOf([heading]), [field], heading);
    });
  }

  test("a heading means no field that another column is by its own name or by --map", () => {
    assert.deepEqual(fieldsOf(["external_id", "Customer ID"]), ["external_id", "Customer ID"]);
    const map = new Map([["Account", "external_id"]]);
    assert.deepEqual(fieldsOf(["Account", "Customer ID"], { map }), ["external_id", "Customer ID"]);
    assert.deepEqual(fieldsOf(["custom_attributes.id", "Notes"]), ["id", "Notes"]);
  });

  test("two headings that mean one field are refused with what to do", () => {
    assert.throws(
      () => fieldsOf(["Customer ID", "User ID"]),
      /'Customer ID' and 'User ID' both set 'external_id'.*--map "User ID="/,
    );
  });

  test("the headings of events and purchases are read, and an event's own id is a property", () => {
    const pathsOf = (kind: ImportKind, headings: readonly string[]) =>
      columnsOf([headings], {}, kind).map(({ path }) => path?.join("."));
    assert.deepEqual(pathsOf("events", ["User ID", "Event Name", "Timestamp", "id"]), [
      "external_id",
      "name",
      "time",
      "properties.id",
    ]);
    assert.deepEqual(
      pathsOf("purchases", ["Customer ID", "SKU", "Unit Price", "Qty", "Order Date"]),
      ["external_id", "product_id", "price", "quantity", "time"],
    );
  });
});

describe("a number", () => {
  const READ: readonly (readonly [text: string, decimal: "." | ",", number: string | undefined])[] =
    [
      ["1,50", ",", "1.50"],
      ["1.234,56", ",", "1234.56"],
      ["-1 234 567,8", ",", "-1234567.8"],
      ["1'234.5", ".", "1234.5"],
      ["1,234.56", ".", "1234.56"],
      ["1.234", ",", "1234"],
      ["12", ",", "12"],
      ["1.5", ",", undefined],
      ["1,5", ".", undefined],
      ["1.23,4", ",", undefined],
      ["1,2,3", ",", undefined],
      ["", ",", undefined],
      ["many", ",", undefined],
    ];
  for (const [text, decimal, number] of READ) {
    test(`the number '${text}' with --decimal ${decimal} is ${number ?? "refused"}`, () => {
      assert.equal(plainNumber(text, decimal), number);
    });
  }

  test("a column of numbers with a decimal comma is inferred with --decimal, and stays text without", () => {
    const lines = [
      ["external_id", "Spent"],
      ["a", "1,50"],
      ["b", "1.234,00"],
    ];
    assert.deepEqual(rowsOf(lines, { decimal: "," }), [
      { value: { external_id: "a", Spent: 1.5 }, leftOut: [] },
      { value: { external_id: "b", Spent: 1_234 }, leftOut: [] },
    ]);
    assert.deepEqual(
      columnsOf(lines).map(({ type }) => type),
      ["text", "text"],
    );
  });

  test("a number with a decimal comma that is refused names the option", () => {
    const lines = [
      ["external_id", "Spent:number"],
      ["a", "1,50"],
    ];
    const [row] = rowsOf(lines);
    assert.ok(row && "fault" in row);
    assert.match(row.fault.message, /'Spent' must be a number; pass --decimal ,$/);
  });
});

describe("a date", () => {
  const READ: Readonly<Record<string, string | undefined>> = {
    "31.01.2026": "2026-01-31",
    "31/1/2026": "2026-01-31",
    "1/31/2026": "2026-01-31",
    "05.05.2026": "2026-05-05",
    "2026/1/31": "2026-01-31",
    "2026.01.31": "2026-01-31",
    "2026-1-31": "2026-01-31",
    "31 January 2026": "2026-01-31",
    "31. Januar 2026": "2026-01-31",
    "3. März 2026": "2026-03-03",
    "31-Jan-2026": "2026-01-31",
    "31st January 2026": "2026-01-31",
    "January 31, 2026": "2026-01-31",
    "Jan. 3rd, 2026": "2026-01-03",
    "Sept 3 2026": "2026-09-03",
    "31.01.2026 17:30": "2026-01-31T17:30:00.000Z",
    "1/31/2026 5:30:15 PM": "2026-01-31T17:30:15.000Z",
    "1/31/2026, 12:05 am": "2026-01-31T00:05:00.000Z",
    "31 Jan 2026 17:30 +02:00": "2026-01-31T15:30:00.000Z",
    "2026-01-31": "2026-01-31",
    "2026-01-31 12:00:00": "2026-01-31 12:00:00",
    "31.02.2026": undefined,
    "13/13/2026": undefined,
    "1/31/2026 13:30 PM": undefined,
    "1/31/2026 25:30": undefined,
    "29 February 2026": undefined,
  };
  for (const [text, iso] of Object.entries(READ)) {
    test(`the date '${text}' is ${iso ?? "refused"}`, () => {
      const read = readDate(text);
      assert.ok(read);
      assert.equal(read.iso, iso);
    });
  }

  test("texts that only resemble dates are none", () => {
    for (const text of [
      "31.01.26",
      "1.2",
      "1/2/3",
      "31/01-2026",
      "12 Foo 2026",
      "may",
      "10.0.0.2026.1",
      "",
    ])
      assert.equal(readDate(text), undefined, text);
  });

  test("the order of day and month is never guessed from one date that can be read in two ways", () => {
    const { iso, order } = readDate("03/04/2025") ?? {};
    assert.deepEqual([iso, order], [undefined, "either"]);
    assert.equal(readDate("03/04/2025", "dmy")?.iso, "2025-04-03");
    assert.equal(readDate("03/04/2025", "mdy")?.iso, "2025-03-04");
    assert.equal(readDate("25/03/2025", "mdy")?.iso, undefined);
  });

  test("--date-format takes the order in the usual spellings", () => {
    const ORDERS = { dmy: "dmy", "DD.MM.YYYY": "dmy", "mm/dd/yyyy": "mdy", mdy: "mdy" } as const;
    for (const [text, order] of Object.entries(ORDERS))
      assert.equal(readDayOrder(text), order, text);
    for (const text of ["", "ymd", "dm", "d/y/m"])
      assert.equal(readDayOrder(text), undefined, text);
  });

  const column = (...dates: readonly string[]) => [
    ["external_id", "Signup"],
    ...dates.map((date, index) => [String(index), date]),
  ];

  test("another date of the column says the order, which is shown", () => {
    const lines = column("03/04/2025", "25/03/2025", "");
    assert.deepEqual(
      rowsOf(lines).map((row) => "value" in row && row.value.Signup),
      ["2025-04-03", "2025-03-25", ""],
    );
    assert.match(describeColumns(columnsOf(lines)).join("\n"), /Signup +→ +Signup +date, dmy +03/);
  });

  test("a column whose dates do not say the order, or contradict each other, is refused with the option", () => {
    for (const field of ["Signup", "dob", "Signup:time"]) {
      const lines = column("03/04/2025", "04/05/2025");
      lines[0] = ["external_id", field];
      assert.throws(
        () => columnsOf(lines),
        /two ways, such as 03\/04\/2025: pass --date-format/,
        field,
      );
      assert.equal(rowsOf(lines, { dateFormat: "mdy" }).length, 2);
    }
    assert.throws(
      () => columnsOf(column("25/03/2025", "03/25/2025")),
      /the day comes first.*--date-format/,
    );
    const types = new Map([["Signup", "text"]] as const);
    const [first] = rowsOf(column("03/04/2025"), { types });
    assert.deepEqual(first, { value: { external_id: "0", Signup: "03/04/2025" }, leftOut: [] });
  });

  test("a birthday among others that are no dates is never read with the month first by itself", () => {
    const lines = [
      ["external_id", "Birthday"],
      ["a", "unknown"],
      ["b", "03/04/1990"],
    ];
    assert.throws(() => columnsOf(lines), /'Birthday' can be read in two ways/);
    const read = rowsOf([...lines, ["c", "25/12/1990"]]);
    assert.deepEqual(
      read.map((row) => "value" in row && row.value.dob),
      ["unknown", "1990-04-03", "1990-12-25"],
    );
  });

  test("a column in which some values are no dates, and one of an export, stay as they are", () => {
    for (const heading of ["Signup", "custom_attributes.signup"]) {
      const lines = [
        ["external_id", heading],
        ["a", "25.03.2025"],
        ["b", heading === "Signup" ? "soon" : "26.03.2025"],
      ];
      const [first] = rowsOf(lines);
      assert.ok(first && "value" in first);
      assert.ok(JSON.stringify(first.value).includes('"25.03.2025"'), heading);
    }
    assert.equal(READERS.text("25.03.2025"), "25.03.2025");
  });

  test("an id or a name that looks like a date stays one", () => {
    const lines = [
      ["Customer ID", "Last Name"],
      ["25.03.2025", "26 March 2025"],
    ];
    const [row] = rowsOf(lines);
    assert.deepEqual(row, {
      value: { external_id: "25.03.2025", last_name: "26 March 2025" },
      leftOut: [],
    });
  });
});
