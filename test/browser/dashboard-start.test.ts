/*
 * The first minutes of a newcomer: start the server, open the printed link, paste the printed
 * command into a shell, and see its data in the dashboard.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freePort } from "../free-port.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { skipWithoutCurl } from "../system/curl.ts";
import { openAt, skipWithoutBrowser } from "./dashboard-browser.ts";

const skip = skipWithoutBrowser || skipWithoutCurl;

const inShell = promisify(execFile);

describe("the first minutes with the dashboard", { skip }, () => {
  if (skip) return;

  test("the printed link opens the dashboard once, and the printed command shows up as a user and as a request", async () => {
    const [port, cwd] = [await freePort(), await temporaryFolder()];
    // The link is printed only on a terminal.
    const serve = `'${process.execPath}' '${join(packageRoot(), "dist", "src", "main.js")}' serve`;
    const child = spawn("script", ["--quiet", "--return", "--command", serve, "/dev/null"], {
      cwd,
      env: { PATH: process.env.PATH, PORT: String(port), LOG_LEVEL: "error" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    after(() => child.kill("SIGKILL"));
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += String(chunk).replaceAll("\r\n", "\n");
      if (/curl .*\n\n$/s.test(printed)) break;
    }
    const [link = ""] = /http:\S+sign-in\?token=\S+/.exec(printed) ?? [];
    const [command = ""] = /curl .*/.exec(printed) ?? [];
    const { page, complaints } = await openAt(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page
      .getByRole("navigation", { name: "Data" })
      .getByRole("link", { name: "Users" })
      .click();
    await page.getByText("No users yet").waitFor();
    const { stdout } = await inShell("bash", ["-c", `${command} --silent`], { cwd });
    assert.match(stdout, /"message":"success"/);
    await page.reload();
    await page.getByRole("link", { name: "ada" }).click();
    await page.getByRole("button", { name: /signed_up/ }).waitFor();
    await page.getByRole("link", { name: "Live requests" }).click();
    await page.getByRole("button", { name: "201 POST /users/track" }).click();
    await page.getByRole("table", { name: "Items" }).getByText("Accepted").waitFor();
    assert.deepEqual(complaints, []);
    const again = await openAt(link);
    await again.page.getByRole("button", { name: "Sign in" }).click();
    // A page without the dashboard: the link is used up.
    await again.page.waitForLoadState("networkidle");
    assert.equal(await again.page.getByRole("link", { name: "Users" }).count(), 0);
  });
});
