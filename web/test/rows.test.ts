import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsInView, scrollTo } from "../src/model/rows";

const ROW = 30;
const VIEW = 600;

test("only rows in view and a few around them are there", () => {
    const rows = rowsInView(10_000, ROW, VIEW, 3_000);
    assert.equal(rows.height, 300_000);
    assert.ok(rows.first <= 100 && rows.end >= 120);
    assert.ok(rows.end - rows.first < 40);
    assert.equal(rows.top, rows.first * ROW);
});

test("all rows of a short list are there, at any scroll position", () => {
    for (const top of [-50, 0, 500]) {
        assert.deepEqual(rowsInView(5, ROW, VIEW, top), { height: 150, first: 0, end: 5, top: 0 });
    }
    assert.equal(rowsInView(0, ROW, VIEW, 0).end, 0);
});

test("the first and the last row of ten million can be reached", () => {
    const count = 10_000_000;
    const { height } = rowsInView(count, ROW, VIEW, 0);
    assert.ok(height < 17_000_000);
    assert.equal(rowsInView(count, ROW, VIEW, 0).first, 0);
    const end = rowsInView(count, ROW, VIEW, height - VIEW);
    assert.equal(end.end, count);
    const bottom = end.top + (end.end - end.first) * ROW;
    assert.ok(Math.abs(bottom - height) < 1, `${bottom} ${height}`);
});

test("a row is in view after scrolling to it, in lists of all lengths", () => {
    for (const count of [50, 10_000, 10_000_000]) {
        for (const row of [0, 7, Math.floor(count / 2), count - 1]) {
            const top = scrollTo(row, count, ROW, VIEW, 0) ?? 0;
            const rows = rowsInView(count, ROW, VIEW, top);
            assert.ok(rows.first <= row && row < rows.end, `${row} of ${count}`);
        }
    }
});

test("nothing scrolls to a row that is in view", () => {
    assert.equal(scrollTo(3, 1000, ROW, VIEW, 0), null);
});
