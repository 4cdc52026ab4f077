// pictures.mjs URL DIRECTORY: takes the pictures of the explorer, for scripts/pictures.

import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [url, directory] = process.argv.slice(2);

const PICTURES = [
    { name: "explorer-model", colorScheme: "dark", place: "models/robot.dff?anim=walk", ready: "[aria-label=Pause]" },
    { name: "explorer", colorScheme: "light", place: "mymod.ufo.d/objects3d", ready: ".cell:last-child img" },
];

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--enable-unsafe-swiftshader"],
});
for (const { name, colorScheme, place, ready } of PICTURES) {
    const page = await browser.newPage({ viewport: { width: 1100, height: 580 }, colorScheme });
    await page.goto(`${url}#/${place}`);
    await page.locator(ready).first().waitFor();
    await page.waitForTimeout(3000);
    await page.screenshot({ path: join(directory, `${name}.png`) });
}
await browser.close();
