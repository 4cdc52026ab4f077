import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { decodeText, findAll, lineStarts } from "../src/viewers/lines";
import { crc, frameAt, parseAnimation } from "../src/viewers/png";
import { parseWav, peaksOf } from "../src/viewers/wav";

function chunk(type: string, data: Uint8Array): Uint8Array {
    const name = new TextEncoder().encode(type);
    const bytes = new Uint8Array(data.length + 12);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, data.length);
    bytes.set(name, 4);
    bytes.set(data, 8);
    view.setUint32(data.length + 8, crc(bytes.subarray(4, data.length + 8)));
    return bytes;
}

const numbers = (...values: number[]) => {
    const bytes = new Uint8Array(values.length * 4);
    values.forEach((value, at) => new DataView(bytes.buffer).setUint32(at * 4, value));
    return bytes;
};

const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

function control(number: number, x: number, delay: [number, number], dispose: number, blend: number): Uint8Array {
    return chunk("fcTL", join(numbers(number, 2, 1, x, 0), new Uint8Array([0, delay[0], 0, delay[1], dispose, blend])));
}

const header = chunk("IHDR", join(numbers(4, 1), new Uint8Array([8, 6, 0, 0, 0])));
const pixels = deflateSync(new Uint8Array(9));
const signature = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const animated = join(
    signature,
    header,
    chunk("acTL", numbers(2, 0)),
    control(0, 0, [1, 10], 0, 0),
    chunk("IDAT", pixels),
    control(1, 2, [5, 0], 1, 1),
    chunk("fdAT", join(numbers(2), pixels)),
    chunk("IEND", new Uint8Array()),
);

test("the frames of an animated picture have their places, times and ways of drawing", async () => {
    const animation = parseAnimation(animated);
    assert.equal(animation?.width, 4);
    const shown = animation?.frames.map(({ x, width, milliseconds, dispose, blends }) => ({
        x,
        width,
        milliseconds,
        dispose,
        blends,
    }));
    assert.deepEqual(shown, [
        { x: 0, width: 2, milliseconds: 100, dispose: "keep", blends: false },
        { x: 2, width: 2, milliseconds: 50, dispose: "clear", blends: true },
    ]);
    const png = new Uint8Array((await animation?.frames[1]?.png.arrayBuffer()) ?? new ArrayBuffer(0));
    const size = new Uint8Array(join(numbers(2, 1), new Uint8Array([8, 6, 0, 0, 0])));
    assert.deepEqual(png, join(signature, chunk("IHDR", size), chunk("IDAT", pixels), chunk("IEND", new Uint8Array())));
});

test("a picture that does not move has no frames, nor has damage", () => {
    assert.equal(parseAnimation(join(signature, header, chunk("IDAT", pixels))), null);
    assert.equal(parseAnimation(new Uint8Array(100)), null);
    for (let length = 0; length < animated.length; length += 1) {
        const cut = parseAnimation(animated.slice(0, length));
        assert.ok(cut === null || cut.frames.length <= 2);
    }
});

test("the frame that is shown follows from the time", () => {
    const frames = parseAnimation(animated)?.frames ?? [];
    assert.deepEqual(
        [0, 99, 101, 149, 151].map((time) => frameAt(frames, time)),
        [0, 0, 1, 1, 0],
    );
});

function wav(smpl: number[] | null): ArrayBuffer {
    const bytes = new Uint8Array(200);
    const view = new DataView(bytes.buffer);
    const text = (at: number, value: string) => bytes.set(new TextEncoder().encode(value), at);
    text(0, "RIFF");
    text(8, "WAVEfmt ");
    view.setUint32(16, 16, true);
    view.setUint16(22, 2, true);
    view.setUint32(24, 22050, true);
    view.setUint16(34, 16, true);
    if (smpl) {
        text(36, "smpl");
        view.setUint32(40, 60, true);
        smpl.forEach((value, at) => view.setUint32(44 + at * 4, value, true));
    }
    return bytes.buffer;
}

test("the loop of a sound ends after its last sample", () => {
    const loop = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 100, 199, 0, 0];
    assert.deepEqual(parseWav(wav(loop)), { sampleRate: 22050, channels: 2, bits: 16, loop: { start: 100, end: 200 } });
});

test("a sound without a loop has none, and other files are no sounds", () => {
    assert.equal(parseWav(wav(null))?.loop, null);
    assert.equal(parseWav(new ArrayBuffer(3)), null);
    assert.equal(parseWav(new ArrayBuffer(64)), null);
});

test("a waveform has the extremes of each part", () => {
    const samples = new Float32Array([0.5, -0.25, 0, 1]);
    assert.deepEqual(peaksOf(samples, 2), [
        { low: -0.25, high: 0.5 },
        { low: 0, high: 1 },
    ]);
});

test("texts are read as UTF-8, or else in the character set of Windows", () => {
    assert.equal(decodeText(new TextEncoder().encode("a\r\nü\rb").buffer as ArrayBuffer), "a\nü\nb");
    assert.equal(decodeText(new Uint8Array([0x47, 0xfc, 0x21]).buffer), "Gü!");
});

test("lines begin after each line break, and a break at the end begins none", () => {
    assert.deepEqual(lineStarts("a\n\nb\n"), [0, 2, 3]);
    assert.deepEqual(lineStarts(""), [0]);
});

test("texts are found without regard to case, and do not overlap", () => {
    assert.deepEqual(findAll("aaA bAa", "aa"), [0, 5]);
    assert.deepEqual(findAll("abc", ""), []);
});
