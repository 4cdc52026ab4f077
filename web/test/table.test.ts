import assert from "node:assert/strict";
import { test } from "node:test";
import { compareCells, nextOrder, parseOrder } from "../src/model/order";
import { arrange, columnWidths, isNumeric, parseTable } from "../src/model/table";

const table = parseTable("name\tsize\nb\t10\nA\t9\n\t\nc\tx\n");
const names = (order: string | undefined, filter = "") =>
    arrange(table, filter, parseOrder(order, table.columns)).map((row) => row.cells[0]);

test("rows keep the numbers that they have in the file", () => {
    assert.deepEqual(
        table.rows.map((row) => row.number),
        [1, 2, 3, 4],
    );
    assert.deepEqual(
        arrange(table, "C", null).map((row) => row.number),
        [4],
    );
});

test("a column sorts up, then down", () => {
    assert.deepEqual(names("name"), ["", "A", "b", "c"]);
    assert.deepEqual(names("-name"), ["c", "b", "A", ""]);
    assert.deepEqual(nextOrder(null, "name"), { key: "name", falls: false });
    assert.deepEqual(nextOrder({ key: "name", falls: false }, "name"), { key: "name", falls: true });
    assert.deepEqual(nextOrder({ key: "name", falls: true }, "name"), { key: "name", falls: false });
});

test("numbers sort by their values and come before texts", () => {
    assert.deepEqual(["x", "10", "-1", "9", "", "2.5"].sort(compareCells), ["-1", "2.5", "9", "10", "", "x"]);
    assert.deepEqual(names("size"), ["A", "b", "", "c"]);
});

test("an order of a column that is not there is none", () => {
    assert.deepEqual(names("weight"), ["b", "A", "", "c"]);
});

test("sorting changes no table", () => {
    names("-size");
    assert.deepEqual(
        table.rows.map((row) => row.cells[0]),
        ["b", "A", "", "c"],
    );
});

test("columns of numbers are known, and no column is wider than a screen", () => {
    const wide = parseTable(`id\ttext\n1\t${"x".repeat(5000)}\n-2.5\t\n`);
    assert.deepEqual([isNumeric(wide, 0), isNumeric(wide, 1)], [true, false]);
    assert.ok(Math.max(...columnWidths(wide)) < 60);
});
