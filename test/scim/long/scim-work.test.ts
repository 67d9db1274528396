/*
 * Limits on the work of one SCIM request. Work is counted, so that these tests do not depend on the
 * machine; one test measures processor time, which says how long the event loop would stall.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startWork, type WorkBudget } from "../../../src/core/base/work.ts";
import { RESOURCE_ATTRIBUTES } from "../../../src/features/scim/protocol/attributes.ts";
import { applyPatch } from "../../../src/features/scim/protocol/patch.ts";
import { readPatch } from "../../../src/features/scim/protocol/patch-request.ts";
import { SCIM_WORK_LIMIT } from "../../../src/features/scim/protocol/problems.ts";
import { readAttributes } from "../../../src/features/scim/protocol/read-attributes.ts";
import { selector } from "../../../src/features/scim/protocol/selection.ts";
import { startOwnServer } from "../../harness.ts";
import { assertRefused, declare, newUser, PATCH_SCHEMA, scimClient } from "../../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

const emails = (count: number, prefix = "a") =>
  Array.from({ length: count }, (_, index) => ({ value: `${prefix}${index}@x`, type: "work" }));

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

const filteredNames = (count: number) =>
  Object.fromEntries(times(count, (index) => [`emails[value eq "a${index}"].type`, "work"]));

const longFilter = (seed: number) =>
  times(99, (index) => `value eq "${seed}-${index}"`).join(" or ");

type Operation = Record<string, unknown>;

/** Every one of these took seconds or minutes, or took four times as long for twice the input. */
const ATTACKS: [what: string, operations: (size: number) => Operation[]][] = [
  ["filters as names", (size) => [{ op: "add", value: filteredNames(size * 20) }]],
  [
    "long filters as names",
    (size) => [
      {
        op: "add",
        value: Object.fromEntries(
          times(size, (index) => [`emails[${longFilter(index)}].display`, "x"]),
        ),
      },
    ],
  ],
  [
    "unknown names",
    (size) => [{ op: "add", value: Object.fromEntries(times(size * 100, (i) => [`n${i}`, 1])) }],
  ],
  [
    "a long list added again and again",
    (size) => times(Math.min(size, 60), () => ({ op: "add", path: "emails", value: emails(500) })),
  ],
  [
    "values removed that are not there",
    (size) => [
      { op: "add", path: "emails", value: emails(500) },
      ...times(Math.min(size, 59), () => ({
        op: "remove",
        path: "emails",
        value: emails(500, "b"),
      })),
    ],
  ],
  [
    "long filters on a long list",
    (size) => [
      { op: "add", path: "emails", value: emails(500) },
      ...times(Math.min(size, 99), (index) => ({
        op: "add",
        path: `emails[${longFilter(index)} or value pr].display`,
        value: "x",
      })),
    ],
  ],
];

describe("the work of one SCIM request", () => {
  for (const [what, operations] of ATTACKS) {
    test(`a SCIM PATCH with ${what} is refused with tooMany when it exceeds the work budget`, async () => {
      const { id } = await scim.user();
      for (const size of [100, 400]) {
        const answer = await scim.users("PATCH", `/${id}`, {
          schemas: [PATCH_SCHEMA],
          Operations: operations(size),
        });
        assertRefused(answer, 400, "tooMany", /more than 25000 units of work/);
      }
    });
  }

  test("a SCIM PATCH that grows a list beyond 500 values is refused", async () => {
    const { id } = await scim.user({ emails: emails(500) });
    const path = 'emails[value eq "other"].type';
    const detail = /must have at most 500 values/;
    for (const operation of [
      { op: "add", path, value: "work" },
      { op: "add", path: "emails", value: emails(1, "b") },
    ]) {
      assertRefused(await scim.patch(id, operation), 400, "invalidValue", detail);
    }
  });

  test("twice the input of a SCIM request takes at most twice the work", () => {
    const spentOn = (run: (work: WorkBudget) => unknown): number => {
      const work = startWork(Number.POSITIVE_INFINITY);
      run(work);
      return work.spent;
    };
    const cases: [what: string, run: (size: number, work: WorkBudget) => void][] = [
      [
        "a body",
        (size, work) =>
          readAttributes(RESOURCE_ATTRIBUTES, { emails: emails(size) }, { isWhole: false, work }),
      ],
      [
        "values added to as many",
        (size, work) =>
          applyPatch(
            { emails: emails(size) },
            [{ op: "add", path: "emails", value: emails(size) }],
            work,
          ),
      ],
      [
        "values removed from as many",
        (size, work) =>
          applyPatch(
            { emails: emails(size) },
            [{ op: "remove", path: "emails", value: emails(size, "b") }],
            work,
          ),
      ],
      [
        "operations on a list",
        (size, work) =>
          applyPatch(
            { emails: emails(100) },
            times(size, () => ({
              op: "replace",
              path: 'emails[value eq "a1@x"].type',
              value: "w",
            })),
            work,
          ),
      ],
      [
        "names to show",
        (size, work) => {
          const attributes = times(size / 4, (index) => `n${index}`).join(",");
          selector({ attributes }, work)({ id: "1", emails: emails(100) });
        },
      ],
    ];
    for (const [what, run] of cases) {
      const [once, twice] = [200, 400].map((size) => spentOn((work) => run(size, work)));
      assert.ok(once && twice && twice <= 2.05 * once, `${what}: ${once}, then ${twice}`);
    }
  });

  test("a costly SCIM PATCH is refused within 50 ms of processor time", () => {
    for (const [what, operations] of ATTACKS) {
      const patch = readPatch({ schemas: [PATCH_SCHEMA], Operations: operations(100) as [] });
      const used: number[] = [];
      // The first attempts are slower, because the code is not compiled yet.
      while (used.length < 15 && Math.min(...used) > 50) {
        const before = process.cpuUsage();
        assert.throws(() => applyPatch({}, patch, startWork(SCIM_WORK_LIMIT)), /units of work/);
        used.push(process.cpuUsage(before).user / 1_000);
      }
      assert.ok(Math.min(...used) <= 50, `${what}: ${used.map(Math.round).join(", ")} ms`);
    }
  });

  test("a SCIM user larger than 256 KB is refused", async () => {
    const wide = times(500, (index) => ({ value: "é".repeat(255), display: `${index}` }));
    const detail = /larger than 262144 bytes/;
    assertRefused(
      await scim.users("POST", "", newUser({ emails: wide })),
      400,
      "invalidValue",
      detail,
    );
    const { id } = await scim.user();
    const patch = { op: "replace", path: "emails", value: wide };
    assertRefused(await scim.patch(id, patch), 400, "invalidValue", detail);
  });

  test("a SCIM list of large users is split into pages that together contain every user once", async () => {
    const display = "x".repeat(250);
    const large = { emails: times(500, (index) => ({ value: `${index}`, display })) };
    const ids = new Set<string>();
    for (let user = 0; user < 10; user++) ids.add((await scim.user(large)).id);
    const filter = 'emails.display sw "xxx"';
    let pages = 0;
    for (let startIndex = 1; ids.size > 0; pages++) {
      const { status, body } = await scim.list({ filter, startIndex: String(startIndex) });
      assert.deepEqual([status, body.totalResults], [200, 10]);
      assert.ok(body.itemsPerPage >= 1 && body.itemsPerPage < 10);
      assert.equal(body.Resources.length, body.itemsPerPage);
      for (const { id } of body.Resources) assert.ok(ids.delete(id));
      startIndex += body.itemsPerPage;
    }
    assert.ok(pages >= 2);
  });

  test("a SCIM request that selects more than 100 attributes is refused", async () => {
    const attributes = times(101, (index) => `n${index}`).join(",");
    assertRefused(await scim.list({ attributes }), 400, "invalidValue", /at most 100 names/);
  });
});
