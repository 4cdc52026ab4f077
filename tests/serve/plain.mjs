// plain.mjs URL: what the page without JavaScript promises, in Chromium without
// JavaScript. Run by browser.rs, which makes the source; fails at the first promise
// that is broken.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [url] = process.argv.slice(2);
const root = new URL("/", url).href;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 400, height: 780 } });
context.setDefaultTimeout(20_000);
const trouble = [];
context.on("request", (request) => request.url().startsWith(root) || trouble.push(request.url()));
context.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
const page = await context.newPage();
const link = (name) => page.getByRole("link", { name, exact: true });

// The explorer, if there is one, leads there.
await page.goto(url);
if ((await link("pictures/").count()) === 0) {
    await link("A page without it").click();
}

// It lists, and enters archives and folders.
await link("mymod.ufo").click();
await link("mymod.ufo.d").click();
await link("units/").click();
await link("DEMOKBOT.FBI").click();
assert.match(await page.locator("pre").innerText(), /\[UNITINFO\]/);

// It saves files.
const [download] = await Promise.all([page.waitForEvent("download"), link("save").click()]);
assert.equal(download.suggestedFilename(), "DEMOKBOT.FBI");
assert.match(await readFile(await download.path(), "latin1"), /^\[UNITINFO\]/);

// It shows pictures, also those that assets are converted to.
const isShown = (image) => image.complete && image.naturalWidth > 0;
for (const path of ["pictures/07.png", "mymod.ufo.d/converted/unitpics/DemoTank.png"]) {
    await page.goto(`${root}?path=${path}`);
    assert.ok(await page.locator("img").evaluate(isShown), path);
}

// HTML of a source is text; odd names are entered like others; a long folder has pages.
await page.goto(`${root}?path=odd`);
await link("page.html").click();
assert.match(await page.locator("pre").innerText(), /<script>/);
await page.goBack();
await link("50% & #1 ü?.txt").click();
assert.match(await page.locator("pre").innerText(), /quokka/);
await link("/").click();
await link("many/").click();
await link("more").click();
await link("more").click();
await link("file 2999.txt").waitFor();

// It fits into a small window.
assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 400);
assert.deepEqual(trouble, []);
await browser.close();
