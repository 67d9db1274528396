/*
 * Requests that existing programs send to an API of this kind (test/fixtures/requests.jsonl: what
 * the transformer of a widely used event router emits, from its own test data). Each track body is
 * taken, but for what the lists below say and why.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../../src/core/base/package-root.ts";
import { type ItemNote, startServer } from "../../../harness.ts";

interface Recorded {
  readonly endpoint: string;
  readonly source: string;
  readonly body: Record<string, readonly unknown[] | undefined>;
}

const recorded: Recorded[] = readFileSync(
  join(packageRoot(), "test", "fixtures", "requests.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const trackBodies = recorded.filter(({ endpoint }) => endpoint === "POST /users/track");

type Places = readonly (readonly [array: string, index: number, code: string])[];

/** What an answer holds besides success, by the number of the track body. */
interface Expected {
  readonly status: 201 | 400;
  readonly errors?: Places;
  readonly skipped?: Places;
  readonly because: string;
}

/** spec: User identifiers: only valid phone numbers work for attribute updates. */
const NATIONAL_NUMBER: Expected = {
  status: 400,
  errors: [["attributes", 0, "INVALID_PHONE"]],
  because: "9988123321 lacks the code of its country, so it names no number that exists",
};

const NO_MATCH: Expected = {
  status: 201,
  skipped: [["attributes", 0, "NO_MATCHING_OBJECT"]],
  because: "it changes or removes an object that the user's array does not have",
};

const EXPECTED: Readonly<Record<number, Expected>> = {
  3: {
    status: 201,
    skipped: [["events", 0, "USER_NOT_FOUND"]],
    because: "an event with a user_alias never makes a profile (spec: Event object)",
  },
  11: NO_MATCH,
  12: NO_MATCH,
  13: NATIONAL_NUMBER,
  14: NATIONAL_NUMBER,
  15: NATIONAL_NUMBER,
  38: {
    status: 201,
    skipped: [
      ["events", 0, "USER_NOT_FOUND"],
      ["purchases", 0, "USER_NOT_FOUND"],
    ],
    because: "an event or a purchase with a user_alias never makes a profile",
  },
  39: {
    status: 201,
    errors: [
      ["events", 0, "MISSING_IDENTIFIER"],
      ["purchases", 0, "INVALID_QUANTITY"],
    ],
    because:
      "its sender tests partial failure: an event without identifier (exactly one is " +
      "required) and a quantity that is text (an integer is due)",
  },
  40: {
    status: 400,
    errors: [
      ["events", 0, "MISSING_IDENTIFIER"],
      ["events", 1, "MISSING_IDENTIFIER"],
      ["purchases", 0, "INVALID_QUANTITY"],
    ],
    because: "its sender tests total failure: the same faults, and nothing else",
  },
  61: NO_MATCH,
};

const placesOf = (notes: readonly ItemNote[] | undefined) =>
  notes?.map(({ input_array, index, code }) => [input_array, index, code]);

const server = await startServer();

describe("track bodies that existing programs send", () => {
  for (const [number, { body, source }] of trackBodies.entries()) {
    const expected = EXPECTED[number];
    const outcome = expected ? `gets ${expected.status}: ${expected.because}` : "is accepted";
    test(`track body ${number} of existing programs (${source}) ${outcome}`, async () => {
      const workspace = await server.workspace();
      const answer = await workspace.track(body);
      assert.equal(answer.status, expected?.status ?? 201, JSON.stringify(answer.body));
      assert.deepEqual(placesOf(answer.body.errors), expected?.errors);
      assert.deepEqual(placesOf(answer.body.skipped), expected?.skipped);
      for (const array of ["attributes", "events", "purchases"]) {
        if (answer.status === 201) {
          assert.equal(`${array}_processed` in answer.body, body[array] !== undefined, array);
        }
      }
    });
  }

  test("all track bodies of existing programs can be sent to one workspace in turn", async () => {
    const workspace = await server.workspace();
    for (const [number, { body }] of trackBodies.entries()) {
      const answer = await workspace.track(body);
      assert.equal(answer.status, EXPECTED[number]?.status ?? 201, `${number}`);
      assert.deepEqual(placesOf(answer.body.errors), EXPECTED[number]?.errors, `${number}`);
    }
    const { custom_attributes } = await workspace.profile({ external_ids: ["finalUserTestCA"] });
    assert.deepEqual(custom_attributes.pets, [
      { breed: "beagle", id: 1, name: "Gus", type: "dog" },
      { breed: "calico", id: 2, name: "Gerald", type: "cat" },
    ]);
  });
});
