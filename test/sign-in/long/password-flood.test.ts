/* What many sign-ins with passwords cost, and whether their cost tells anything. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addColleague, choosePassword, enter, signInWith } from "../../colleagues.ts";
import { startOwnServer } from "../../harness.ts";

const server = await startOwnServer({
  maxFailedAuth: 1_000,
  // A sixth of what a password costs: much more than the rest of a request.
  passwordCost: { log2N: 14, r: 8, p: 1 },
});

async function withPassword() {
  const colleague = await addColleague(server);
  await choosePassword(await enter(server, colleague));
  return colleague;
}

describe("many sign-ins with passwords", () => {
  test("as many processor seconds go into an unknown person as into a known one", async () => {
    const known = await withPassword();
    const spentOn = async (name: string): Promise<number> => {
      const before = process.cpuUsage();
      for (let tries = 0; tries < 3; tries++) await signInWith(server, name, "a wrong password");
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await spentOn("warm@acme.example");
    const [one, other] = [await spentOn(known.userName), await spentOn("nobody@acme.example")];
    assert.ok(other > one / 3 && one > other / 3, `${one} and ${other} microseconds`);
  });

  test("a flood of sign-ins from one address leaves other requests their answers", async () => {
    const grace = await withPassword();
    let isOver = false;
    const flood = Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        signInWith(server, `${index}@acme.example`, "a wrong password"),
      ),
    ).finally(() => {
      isOver = true;
    });
    let answered = 0;
    while (!isOver) {
      assert.equal((await server.send("GET", "/health/live")).status, 200);
      answered++;
    }
    const statuses = (await flood).map(({ status }) => status);
    assert.ok(answered > 10, `${answered} answered`);
    assert.ok(statuses.includes(429) && statuses.includes(401));
    assert.ok(statuses.every((status) => status === 401 || status === 429));
    assert.equal((await signInWith(server, grace.userName)).status, 200);
  });
});
