/* What `npm run pack` writes of the address of a repository. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../stored-rows.ts";
import { installPackages, PACK, run } from "../packed.ts";

const { project, describedBy } = await installPackages();

test("the address of a repository fills repository, homepage, bugs and the documents, which else say your clone", async () => {
  const folder = await temporaryFolder();
  const packed = (name: string, path: string, from = folder) =>
    run(
      "tar",
      ["-xzOf", join(from, `${name}-${describedBy(name).version}.tgz`), `package/${path}`],
      {
        maxBuffer: 16 * 1_048_576,
      },
    ).then(({ stdout }) => stdout);
  await run(process.execPath, [PACK, folder, "https://host.example/acme/rapport.git"]);
  for (const name of ["rapport-server", "rapport-client"]) {
    const { repository, homepage, bugs } = JSON.parse(await packed(name, "package.json"));
    assert.equal(repository.url, "git+https://host.example/acme/rapport.git");
    assert.equal(repository.directory, name === "rapport-client" ? "client" : undefined);
    assert.equal(homepage, "https://host.example/acme/rapport#readme");
    assert.equal(bugs, "https://host.example/acme/rapport/issues");
    const without = describedBy(name);
    assert.deepEqual(
      [without.repository, without.homepage, without.bugs],
      Array(3).fill(undefined),
    );
  }
  assert.match(await packed("rapport-server", "docs/ci.md"), /uses: acme\/rapport@main/);
  assert.match(
    await packed("rapport-server", "README.md"),
    /git clone https:\/\/host\.example\/acme\/rapport /,
  );
  assert.match(await packed("rapport-server", "README.md", project), /git clone your-clone /);
});

for (const address of [
  "acme/rapport",
  "http://host.example/acme/rapport",
  "https://host.example",
]) {
  test(`${address} is refused as the address of a repository`, async () => {
    const refused = run(process.execPath, [PACK, await temporaryFolder(), address]);
    await assert.rejects(refused, /is not the https address of a repository/);
  });
}
