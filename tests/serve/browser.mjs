// browser.mjs FOLDER-URL MERGED-URL part|whole: what the explorer promises, in
// Chromium. Run by browser.rs, which makes the sources; prints a line for each
// promise, and fails if one is broken.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [folderUrl, mergedUrl, length] = process.argv.slice(2);
const folder = new URL("/", folderUrl).href;
const merged = new URL("/", mergedUrl).href;

const DESK = { width: 1120, height: 640 };
const PHONE = { width: 400, height: 780 };

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--autoplay-policy=no-user-gesture-required"],
});
const context = await browser.newContext({ viewport: DESK });
context.setDefaultTimeout(20_000);
const trouble = [];
context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    const isOurs = protocol === "blob:" || protocol === "data:" || [folder, merged].includes(`${origin}/`);
    isOurs || trouble.push(`request to ${request.url()}`);
});
context.on(
    "console",
    (message) => message.type() === "error" && trouble.push(`${message.text()} ${message.location().url}`),
);
context.on("weberror", (error) => trouble.push(String(error.error())));

// The token becomes a cookie.
const page = await context.newPage();
await page.goto(mergedUrl);
await page.goto(folderUrl);

const open = (hash, base = folder) => page.goto("about:blank").then(() => page.goto(base + hash));
const entry = (name) => page.getByRole("link", { name, exact: true });
const button = (name) => page.getByRole("button", { name });
const eventually = async (check) => {
    for (let tries = 0; !(await check()); tries += 1) {
        assert.ok(tries < 100, `still not: ${check}`);
        await page.waitForTimeout(100);
    }
};
/** The picture on a canvas, as a text that is equal for equal pictures. */
const look = (selector) => page.locator(selector).evaluate((element) => element.toDataURL());
const changes = async (selector, act) => {
    let before = null;
    await eventually(async () => before === (before = await look(selector)));
    await act();
    await eventually(async () => (await look(selector)) !== before);
};
const rows = async (column) => (await page.locator(`tbody td:nth-of-type(${column})`).allInnerTexts()).filter(Boolean);

/** Names of promises, and how they are kept; only in the whole form if `whole`. */
const promises = [];
const promise = (name, keep) => promises.push({ name, keep, whole: false });
const promiseInWhole = (name, keep) => promises.push({ name, keep, whole: true });

promise("the page lists what is served, and its address has no token", async () => {
    await entry("mymod.ufo").waitFor();
    await entry("models").waitFor();
    assert.equal(page.url().replace("#/", ""), folder);
});

promise("a click enters archives and folders, and Back leaves them", async () => {
    await open("#/");
    await entry("mymod.ufo").click();
    await entry("units").click();
    await entry("DEMOKBOT.FBI").waitFor();
    assert.match(page.url(), /#\/mymod\.ufo\.d\/units$/);
    await page.goBack();
    await entry("units").waitFor();
});

promise("a folder of pictures shows them", async () => {
    await open("#/pictures");
    await eventually(() =>
        page.evaluate(() => [...document.images].filter((image) => image.naturalWidth > 0).length >= 12),
    );
});

promise("pictures of models are made side by side, and the server has no errors", async () => {
    await open("#/mymod.ufo.d/objects3d");
    await eventually(() =>
        page.evaluate(() => [...document.images].filter((image) => image.naturalWidth > 0).length === 6),
    );
    const { errors, messages } = await (await page.request.get(`${folder}api/state`)).json();
    assert.equal(errors, 0, messages.join("\n"));
});

promiseInWhole("a folder of 3,000 files has few elements, and the last file can be reached", async () => {
    await open("#/many");
    await entry("file 0000.txt").focus();
    assert.ok((await page.locator("*").count()) < 1000);
    await page.keyboard.press("End");
    await entry("file 2999.txt").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("text 2999").waitFor();
});

promise("HTML of an archive is shown as text, and does not run", async () => {
    await open("#/odd/page.html");
    await page.getByText("<script>document.title").waitFor();
    assert.doesNotMatch(await page.title(), /ran/);
});

promise("a model is drawn, and a chosen animation moves it", async () => {
    await open("#/models/robot.dff");
    await page.getByRole("button", { name: "walk", exact: true }).click();
    assert.match(page.url(), /anim=walk/);
    await button("Pause").waitFor();
    const moved = await look("canvas");
    await eventually(async () => (await look("canvas")) !== moved);
    const colors = await page.locator("canvas").evaluate((canvas) => {
        const { width, height } = canvas;
        const copy = new OffscreenCanvas(width, height).getContext("2d");
        copy.drawImage(canvas, 0, 0);
        return new Set(new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)).size;
    });
    assert.ok(colors > 30, `${colors} colors`);
});

promiseInWhole("wireframe and hidden nodes change the picture of a model", async () => {
    await open("#/mymod.ufo.d/objects3d/DemoTank.3do");
    await button("Hidden nodes").waitFor();
    await changes("canvas", () => page.keyboard.press("h"));
    await changes("canvas", () => page.keyboard.press("w"));
    await changes("canvas", () => page.locator("canvas").press("ArrowLeft"));
});

promise("a table sorts up and down, and a cell with an id leads to its asset", async () => {
    await open("#/reef.HIP.d/assets.tsv");
    const header = page.getByRole("columnheader", { name: "name", exact: true });
    await header.click();
    const up = await rows(5);
    assert.deepEqual(
        up,
        [...up].sort((a, b) => a.localeCompare(b, "en", { numeric: true, sensitivity: "base" })),
    );
    await header.click();
    assert.deepEqual(await rows(5), up.toReversed());
    assert.equal(await header.getAttribute("aria-sort"), "descending");
    await entry("AEC04868").click();
    await page.getByRole("heading", { name: "fish.RW3", level: 1 }).waitFor();
});

promiseInWhole("a link opens the same place in another tab", async () => {
    await open("#/reef.HIP.d/assets.tsv?row=3&sort=-size");
    await page.locator("tr.marked").waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.locator("tr.marked").waitFor();
    assert.equal(
        await other.locator("tbody tr").first().innerText(),
        await page.locator("tbody tr").first().innerText(),
    );
    await other.close();
});

promiseInWhole("names with characters of URLs are opened like others", async () => {
    await open("#/odd");
    await entry("50% & #1 ü?.txt").click();
    await page.getByText("odd but fine").waitFor();
    await page.reload();
    await page.getByText("odd but fine").waitFor();
});

promiseInWhole("search finds names, and words of texts", async () => {
    const isIndexed = async () => (await (await page.request.get(`${folder}api/state`)).json()).index.texts === "done";
    for (const begun = Date.now(); !(await isIndexed()); await page.waitForTimeout(500)) {
        assert.ok(Date.now() - begun < 180_000, "texts are not indexed");
    }
    await open("#/");
    await page.locator("input[type=search]").fill("robot");
    await page.keyboard.press("Enter");
    await entry("robot.dff").first().click();
    await page.locator("canvas").waitFor();
    await open("#/");
    await page.keyboard.press("/");
    await page.keyboard.type("quokka");
    await page.keyboard.press("Enter");
    await page.locator("mark").first().waitFor();
});

promiseInWhole("details say where a file comes from and what it shadows, and compare both", async () => {
    await open("#/units/DEMOTANK.FBI", merged);
    const details = page.getByRole("complementary", { name: "Details" });
    await details.getByText("patch.gp3").first().waitFor();
    await details.getByRole("link", { name: "Compare" }).click();
    await page.getByText("MaxDamage").waitFor();
    await page.getByText("9999").waitFor();
});

promiseInWhole("details lead to what is in an asset, and to what uses it", async () => {
    await open("#/mymod.ufo.d/objects3d/DemoTank.3do");
    const details = page.getByRole("complementary", { name: "Details" });
    await details.getByText("Used by").waitFor();
    await details.getByRole("link", { name: "DemoTank.3do.meta" }).click();
    await entry("model.glb").waitFor();
    await open("#/mymod.ufo.d");
    await entry("converted").click();
    await entry("tables").waitFor();
});

promiseInWhole("a sprite plays, and steps through its frames", async () => {
    await open("#/mymod.ufo.d/anims/boom.gaf");
    await page.getByText("12 frames").waitFor();
    await page.keyboard.press(" ");
    await page.locator("canvas").waitFor();
    await changes("canvas", () => page.keyboard.press("."));
    await page.getByText(/of 12,/).waitFor();
});

promiseInWhole("a sound with a loop plays on after its end", async () => {
    await open("#/odd/loop.wav");
    assert.equal(await button("Loop").getAttribute("aria-pressed"), "true");
    await page.keyboard.press(" ");
    await button("Pause").waitFor();
    await page.waitForTimeout(1500);
    await button("Pause").waitFor();
    await page.keyboard.press("l");
    await button("Play").waitFor();
});

promiseInWhole("bytes of a file are fetched in parts, and any offset is reached", async () => {
    await open("#/many.bin");
    await page.getByText("00000010").waitFor();
    await page.getByLabel("Go to offset").fill("0x2fffff");
    await page.keyboard.press("Enter");
    await page.getByText("002FFFF0").waitFor();
    await eventually(() =>
        page
            .locator(".hex-row.marked .hex-bytes")
            .innerText()
            .then((bytes) => bytes.trim().endsWith("2A")),
    );
});

promiseInWhole("a text is searched, and a link leads to a line", async () => {
    await open("#/odd/long.txt?row=4000");
    await eventually(() => page.locator(".text").evaluate((text) => text.scrollTop > 10_000));
    await page.keyboard.press("f");
    await page.keyboard.type("line 17 ");
    await page.getByText("1 of 1").waitFor();
    await eventually(() => page.locator(".text").evaluate((text) => text.scrollTop < 1_000));
});

promiseInWhole("a model opens in 2 s while 10,000 thumbnails are scrolled", async () => {
    await open("#/thousands");
    const grid = page.locator(".entries-rows");
    await grid.waitFor();
    for (let step = 0; step < 30; step += 1) {
        await grid.evaluate((element) => element.scrollBy(0, 3_000));
        await page.waitForTimeout(30);
    }
    const other = await context.newPage();
    const openModel = async () => {
        const begun = performance.now();
        await other.goto("about:blank");
        await other.goto(`${folder}#/models/robot.dff`);
        await other.getByRole("button", { name: "walk", exact: true }).waitFor();
        return performance.now() - begun;
    };
    const alone = await openModel();
    const scrolls = (async () => {
        for (let step = 0; step < 30; step += 1) {
            await grid.evaluate((element) => element.scrollBy(0, 3_000));
        }
    })();
    const milliseconds = await openModel();
    await scrolls;
    await other.close();
    // Other programs may need the processor, too.
    assert.ok(milliseconds < Math.max(2_000, 3 * alone), `${milliseconds} ms, ${alone} ms alone`);
    await grid.press("End");
    await entry("p9999.png").waitFor();
    return `${Math.round(milliseconds)} ms, ${Math.round(alone)} ms alone`;
});

promiseInWhole("everything can be reached by keys", async () => {
    await open("#/");
    await entry("models").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("f");
    await page.keyboard.type("models");
    await page.keyboard.press("Tab");
    await entry("models").focus();
    await page.keyboard.press("Enter");
    await entry("robot.dff").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Model" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("clump").first().waitFor();
    await page.keyboard.press("]");
    await page.getByRole("heading", { name: "robot.hgo", level: 1 }).waitFor();
    await page.keyboard.press("Backspace");
    await entry("robot.hgo").waitFor();
    await eventually(() => page.evaluate(() => document.activeElement?.textContent === "robot.hgo"));
    await page.keyboard.press("Backspace");
    await entry("mymod.ufo").waitFor();
    await page.getByRole("treeitem", { name: "models" }).focus();
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "treeitem");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
});

const PLACES = [
    "#/",
    "#/pictures",
    "#/models/robot.dff?anim=walk",
    "#/mymod.ufo.d/anims/boom.gaf",
    "#/reef.HIP.d/assets.tsv",
    "#/odd/loop.wav",
    "#/odd/long.txt",
    "#/many.bin",
    "#/models/robot.dff?view=json",
    "#/?q=robot",
];

promiseInWhole("all controls have names, and texts have contrast, in light and in dark", async () => {
    for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        for (const place of PLACES) {
            await open(place);
            await page.waitForTimeout(800);
            const found = await page.evaluate(faults);
            assert.deepEqual(found, [], `${place}, ${colorScheme}`);
        }
    }
    await page.emulateMedia({ colorScheme: null, reducedMotion: null });
});

/** Runs in the page: controls without names, and texts that are hard to read. */
function faults() {
    const found = [];
    const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const nameOf = (element) =>
        element.getAttribute("aria-label") ||
        element.textContent.trim() ||
        element.title ||
        element.labels?.[0]?.textContent;
    for (const control of document.querySelectorAll(
        "a[href], button, input, select, canvas, [role=region], [role=grid], [role=tree]",
    )) {
        if (isShown(control) && !nameOf(control)) {
            found.push(`no name: ${control.outerHTML.slice(0, 120)}`);
        }
    }
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const paint = (colors) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const color of colors) {
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
        }
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = (pixel) => {
        const [red, green, blue] = pixel.map((value) =>
            value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
        );
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (
            texts.currentNode.data.trim() === "" ||
            !isShown(element) ||
            element.closest(":disabled, .hidden, noscript, option")
        ) {
            continue;
        }
        const backs = [];
        for (let above = element; above; above = above.parentElement) {
            backs.unshift(getComputedStyle(above).backgroundColor);
        }
        const [back, text] = [luminance(paint(backs)), luminance(paint([...backs, getComputedStyle(element).color]))];
        const contrast = (Math.max(back, text) + 0.05) / (Math.min(back, text) + 0.05);
        if (contrast < 4.5) {
            found.push(`contrast ${contrast.toFixed(1)}: ${element.outerHTML.slice(0, 120)}`);
        }
    }
    return found;
}

promiseInWhole("every view fits into 400 pixels", async () => {
    await page.setViewportSize(PHONE);
    for (const place of PLACES) {
        await open(place);
        await page.waitForTimeout(500);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= PHONE.width, `${place}: ${width}`);
    }
    await open("#/");
    await button("Folders").click();
    await page.getByRole("treeitem", { name: "models" }).click();
    await entry("robot.dff").waitFor();
    await page.setViewportSize(DESK);
});

promise("nothing is asked of other hosts, and the console has no errors", () => assert.deepEqual(trouble, []));

let broken = 0;
for (const { name, keep, whole } of promises) {
    if (whole && length !== "whole") {
        continue;
    }
    const begun = performance.now();
    try {
        const measured = (await keep()) ?? "";
        console.log(`kept: ${name} (${Math.round(performance.now() - begun)} ms) ${measured}`);
    } catch (error) {
        broken += 1;
        console.log(`BROKEN: ${name}: ${error.message}\nat ${page.url()}`);
    }
}
await browser.close();
process.exit(broken === 0 ? 0 : 1);
