import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePath, encodePath, extensionOf } from "../src/model/paths";
import { linkTo, parseRoute } from "../src/model/route";

test("a link leads back to the path and the parameters that it was made of", () => {
    for (const path of ["", "units/A.FBI", "50% & more/#1 ?.txt", "Über/ü'\"<b>.tdf", "a%2Fb"]) {
        const params = { view: "hex", row: "12", anim: "walk & run=1?" };
        assert.deepEqual(parseRoute(linkTo(path, params)), { path, params });
    }
});

test("parameters that are empty are not in a link", () => {
    assert.equal(linkTo("a/b", { view: undefined, q: "" }), "#/a/b");
});

test("an address that a person typed is taken as it is", () => {
    assert.equal(parseRoute("#/100%/a b").path, "100%/a b");
    assert.equal(parseRoute("").path, "");
    assert.equal(decodePath("/a//b/"), "a/b");
});

test("a slash is the only character of a path that is not encoded", () => {
    assert.equal(encodePath("a b/c#d?e"), "a%20b/c%23d%3Fe");
});

test("names that begin with a dot have no extension", () => {
    assert.deepEqual(["a.TXT", ".hpimount", "x/y.d/z", "a.b.Glb"].map(extensionOf), ["txt", "", "", "glb"]);
});
