// Builds the explorer: node build.mjs [--watch]. Run by scripts/web.

import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const DIST = "dist";
const SCRIPT = "src/main.tsx";
const STYLE = "src/style/index.css";

const options = {
    entryPoints: { explorer: SCRIPT, style: STYLE },
    outdir: join(DIST, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2023", "chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
};

/** Writes the page with the names of the script and the style sheet of a build. */
async function writePage(metafile) {
    const output = (entry) => {
        const [path] = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === entry);
        return path.slice(DIST.length + 1);
    };
    const page = await readFile("src/index.html", "utf8");
    await writeFile(
        join(DIST, "index.html"),
        page.replace("{SCRIPT}", output(SCRIPT)).replace("{STYLE}", output(STYLE)),
    );
}

/**
 * Writes the licences of the packages that are in a build; fails if one has no
 * text, or is not one of those that the crates may have.
 */
async function writeLicences(metafile) {
    const [, list] = /^allow = \[([^\]]*)\]/m.exec(await readFile("../deny.toml", "utf8"));
    const allowed = [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
    const names = Object.keys(metafile.inputs).flatMap((input) => {
        const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
        return found ? [found[1]] : [];
    });
    let written = "The explorer of hpi serve contains the following software.\n";
    for (const name of [...new Set(names)].sort()) {
        const folder = join("node_modules", name);
        const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
        const file = (await readdir(folder)).find((file) => /^licen[sc]e/i.test(file));
        if (!file || !allowed.includes(license)) {
            throw new Error(`${name} has no licence text, or deny.toml does not allow ${license}`);
        }
        const text = await readFile(join(folder, file), "utf8");
        written += `\n${"=".repeat(78)}\n${name} ${version}: ${license}\n${"-".repeat(78)}\n${text.trim()}\n`;
    }
    await writeFile(join(DIST, "licences.txt"), written);
}

/** Writes smaller forms of each file beside it, for clients that take them. */
async function compress(folder) {
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!file.isFile()) {
            continue;
        }
        const path = join(file.parentPath, file.name);
        const bytes = await readFile(path);
        const text = { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT };
        const forms = { br: brotliCompressSync(bytes, { params: text }), gz: gzipSync(bytes, { level: 9 }) };
        for (const [extension, form] of Object.entries(forms)) {
            if (form.length < bytes.length) {
                await writeFile(`${path}.${extension}`, form);
            }
        }
    }
}

await rm(DIST, { recursive: true, force: true });
await mkdir(DIST);
if (process.argv.includes("--watch")) {
    const page = {
        name: "page",
        setup: (build) => build.onEnd((result) => result.metafile && writePage(result.metafile)),
    };
    const context = await esbuild.context({ ...options, minify: false, sourcemap: "inline", plugins: [page] });
    await context.watch();
} else {
    const { metafile } = await esbuild.build(options);
    await writePage(metafile);
    await writeLicences(metafile);
    await compress(DIST);
}
