import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../src/model/api";
import { chooseFacet, facetsOf } from "../src/model/facets";
import { lineOf, outline } from "../src/model/outline";
import { sortEntries } from "../src/model/order";
import { destination, withoutInsides } from "../src/model/places";
import { findReferences } from "../src/model/references";
import { parseTable } from "../src/model/table";

const entry = (name: string, more: Partial<Entry> = {}): Entry => ({
    name,
    kind: "file",
    type: null,
    size: 1,
    modified: null,
    etag: null,
    view: null,
    thumb: false,
    enter: null,
    converted: [],
    ...more,
});
const folder = (name: string) => entry(name, { kind: "directory", size: null });

const folders: Record<string, Entry[]> = {
    "": [entry("b.hpi", { enter: "b.hpi.d" }), folder("b.hpi.d"), folder("a"), entry("x.txt")],
    "b.hpi.d": [folder("units"), entry("m.3do", { enter: "m.3do.meta" }), folder("m.3do.meta")],
};

test("the tree has folders and archives, and archives unfold in place", () => {
    const lines = outline(new Set(["", "b.hpi.d"]), (path) => folders[path] ?? null);
    assert.deepEqual(
        lines.map(({ path, name, level }) => [path, name, level]),
        [
            ["a", "a", 1],
            ["b.hpi.d", "b.hpi", 1],
            ["b.hpi.d/units", "units", 2],
        ],
    );
    assert.equal(lineOf(lines, "b.hpi.d/units/deep/er"), 2);
});

test("an entry stands for the folder that shows what is in it, and a click enters archives", () => {
    const root = folders[""] ?? [];
    assert.deepEqual(
        withoutInsides(root).map((entry) => entry.name),
        ["b.hpi", "a", "x.txt"],
    );
    assert.equal(destination("", root[0] as Entry), "b.hpi.d");
    assert.equal(destination("b.hpi.d", entry("m.3do", { enter: "m.3do.meta" })), "b.hpi.d/m.3do");
    assert.equal(destination("ids", entry("00AB", { kind: "link", target: "layers/x" })), "layers/x");
});

test("folders come first, and numbers in names count", () => {
    const entries = [entry("a10"), entry("a9"), folder("z")];
    const names = (falls: boolean) => sortEntries(entries, { key: "name", falls }).map((entry) => entry.name);
    assert.deepEqual(names(false), ["z", "a9", "a10"]);
    assert.deepEqual(names(true), ["z", "a10", "a9"]);
});

test("an asset is shown by its model first, and then by all that is in it", () => {
    const tank = entry("tank.3do", { view: "model", enter: "tank.3do.meta" });
    const inside = ["info.json", "info.txt", "model.glb", "pieces.tsv", "preview.png"].map((name) => entry(name));
    const facets = facetsOf("objects/tank.3do", tank, [...inside, folder("textures")]);
    assert.deepEqual(
        facets.map((facet) => `${facet.view} ${facet.path}`),
        [
            "json objects/tank.3do.meta/info.json",
            "text objects/tank.3do.meta/info.txt",
            "model objects/tank.3do.meta/model.glb",
            "table objects/tank.3do.meta/pieces.tsv",
            "hex objects/tank.3do",
        ],
    );
    assert.equal(chooseFacet(facets, "objects/tank.3do", tank)?.label, "model.glb");
    assert.equal(chooseFacet(facets, "objects/tank.3do", tank, "table")?.label, "pieces.tsv");
    assert.equal(chooseFacet(facets, "objects/tank.3do", tank, "sound")?.label, "model.glb");
});

test("the picture of a whole map comes before those of its parts", () => {
    const map = entry("island.tnt", { view: "picture", enter: "island.tnt.meta" });
    const facets = facetsOf(
        "island.tnt",
        map,
        ["height.png", "map.png", "minimap.png"].map((name) => entry(name)),
    );
    assert.equal(chooseFacet(facets, "island.tnt", map)?.label, "map.png");
    assert.equal(chooseFacet(facets, "island.tnt", map, "picture", "minimap.png")?.label, "minimap.png");
});

test("a file without more is shown as itself, and every file as bytes", () => {
    const views = (path: string, view: Entry["view"]) =>
        facetsOf(path, entry(path, { view }), null).map((facet) => facet.view);
    assert.deepEqual(views("a.png", "picture"), ["picture", "hex"]);
    assert.deepEqual(views("a.fbi", "text"), ["text", "hex"]);
    assert.deepEqual(views("a.html", "text"), ["text", "hex"]);
    assert.deepEqual(views("a.bin", "hex"), ["hex"]);
});

test("references are found on both sides, by ids and by paths", () => {
    const ids = parseTable(
        "id\tname\tfield\ttarget\ttarget_name\tstate\n01\tcrate\ttexture\t02\twood\t\n03\tbox\ttexture\t02\twood\t\n01\tcrate\ttexture\t04\t\tmissing\n",
    );
    const link = (cell: string) => `ids/${cell}`;
    const byId = findReferences(ids, [link, null, null, link], "x/wood.rw3", "02");
    assert.deepEqual(
        byId.usedBy.map(({ name, path }) => [name, path]),
        [
            ["crate", "ids/01"],
            ["box", "ids/03"],
        ],
    );
    const missing = findReferences(ids, [link, null, null, link], "x/crate.dff", "01").uses[1];
    assert.deepEqual(missing, { name: "04", kind: "missing", path: null, row: 3 });

    const paths = parseTable(
        "unit\tkind\tname\tpath\tfrom\nTANK\tmodel\ttank.3do\tobjects3d/tank.3do\tunits/TANK.FBI\n",
    );
    const same = (cell: string) => cell;
    const byPath = findReferences(paths, [null, null, null, same, same], "units/tank.fbi", undefined);
    assert.deepEqual(
        byPath.uses.map(({ name, path, kind }) => [name, path, kind]),
        [["tank.3do", "objects3d/tank.3do", "model"]],
    );
});
