import assert from "node:assert/strict";
import { test } from "node:test";
import { Queue } from "../src/model/queue";

const settle = () => new Promise((resolve) => setImmediate(resolve));

function jobs(limit: number) {
    let now = 0;
    const queue = new Queue(limit, () => now);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const add = (name: string) =>
        queue.add(() => {
            begun.push(name);
            return new Promise((resolve) => ends.set(name, () => resolve()));
        });
    return { add, begun, end: (name: string) => ends.get(name)?.(), wait: () => (now += 1000) };
}

test("a few jobs run at once, and the next ones when these end", async () => {
    const { add, begun, end } = jobs(2);
    ["a", "b", "c", "d"].forEach(add);
    assert.deepEqual(begun, ["a", "b"]);
    end("a");
    await settle();
    assert.deepEqual(begun, ["a", "b", "c"]);
});

test("what was asked for last comes first, a screen in its order", async () => {
    const { add, begun, end, wait } = jobs(1);
    ["running", "old 1", "old 2"].forEach(add);
    wait();
    ["new 1", "new 2"].forEach(add);
    for (const name of ["running", "new 1", "new 2", "old 1"]) {
        end(name);
        await settle();
    }
    assert.deepEqual(begun, ["running", "new 1", "new 2", "old 1", "old 2"]);
});

test("a canceled job does not begin", async () => {
    const { add, begun, end } = jobs(1);
    add("a");
    add("b")();
    add("c");
    end("a");
    await settle();
    assert.deepEqual(begun, ["a", "c"]);
});
