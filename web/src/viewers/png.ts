/** Frames of animated PNG files. https://www.w3.org/TR/png-3/ */

export interface Frame {
    x: number;
    y: number;
    milliseconds: number;
    /** What becomes of the canvas after the frame. */
    dispose: "keep" | "clear" | "restore";
    /** Whether the frame is drawn over what is there. */
    blends: boolean;
    width: number;
    height: number;
    /** The frame as a picture of its own. */
    png: Blob;
}

export interface Animation {
    width: number;
    height: number;
    frames: Frame[];
}

interface Chunk {
    type: string;
    data: Uint8Array<ArrayBuffer>;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** A frame needs at least a chunk with its place, so that this is for hostile files. */
const MAX_FRAMES = 10_000;

/** Returns the frames of an animated PNG file; null if it is none. */
export function parseAnimation(bytes: Uint8Array<ArrayBuffer>): Animation | null {
    const chunks = readChunks(bytes);
    const header = chunks.find((chunk) => chunk.type === "IHDR");
    if (!header || header.data.length < 13 || !chunks.some((chunk) => chunk.type === "acTL")) {
        return null;
    }
    const size = view(header.data);
    const shared = chunks.filter((chunk) => ["PLTE", "tRNS", "gAMA", "sRGB", "sBIT", "iCCP"].includes(chunk.type));
    const frames: Frame[] = [];
    let control: Chunk | null = null;
    let data: Uint8Array<ArrayBuffer>[] = [];
    const end = () => {
        if (control && data.length > 0 && frames.length < MAX_FRAMES) {
            frames.push(makeFrame(control.data, header.data, shared, data));
        }
        data = [];
    };
    for (const chunk of chunks) {
        if (chunk.type === "fcTL" && chunk.data.length >= 26) {
            end();
            control = chunk;
        } else if (chunk.type === "IDAT") {
            data.push(chunk.data);
        } else if (chunk.type === "fdAT") {
            data.push(chunk.data.subarray(4));
        }
        // Image data before the first control is not a frame.
        if (control === null) {
            data = [];
        }
    }
    end();
    return { width: size.getUint32(0), height: size.getUint32(4), frames };
}

function readChunks(bytes: Uint8Array<ArrayBuffer>): Chunk[] {
    const chunks: Chunk[] = [];
    if (!SIGNATURE.every((byte, at) => bytes[at] === byte)) {
        return chunks;
    }
    const all = view(bytes);
    let at = SIGNATURE.length;
    while (at + 12 <= bytes.length) {
        const length = all.getUint32(at);
        const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
        chunks.push({ type, data: bytes.subarray(at + 8, at + 8 + length) });
        at += length + 12;
    }
    return chunks;
}

function makeFrame(control: Uint8Array, header: Uint8Array, shared: Chunk[], data: Uint8Array<ArrayBuffer>[]): Frame {
    const fields = view(control);
    const width = fields.getUint32(4);
    const height = fields.getUint32(8);
    const own = header.slice();
    view(own).setUint32(0, width);
    view(own).setUint32(4, height);
    const seconds = fields.getUint16(20) / (fields.getUint16(22) || 100);
    const parts = [
        new Uint8Array(SIGNATURE),
        writeChunk("IHDR", own),
        ...shared.map((chunk) => writeChunk(chunk.type, chunk.data)),
        ...data.map((part) => writeChunk("IDAT", part)),
        writeChunk("IEND", new Uint8Array()),
    ];
    return {
        x: fields.getUint32(12),
        y: fields.getUint32(16),
        width,
        height,
        milliseconds: Math.max(seconds * 1000, 10),
        dispose: (["keep", "clear", "restore"] as const)[control[24] ?? 0] ?? "keep",
        blends: control[25] === 1,
        png: new Blob(parts, { type: "image/png" }),
    };
}

function writeChunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
    const chunk = new Uint8Array(data.length + 12);
    const fields = view(chunk);
    fields.setUint32(0, data.length);
    chunk.set(
        [...type].map((letter) => letter.charCodeAt(0)),
        4,
    );
    chunk.set(data, 8);
    fields.setUint32(data.length + 8, crc(chunk.subarray(4, data.length + 8)));
    return chunk;
}

const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) {
        value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    }
    return value;
});

export function crc(bytes: Uint8Array): number {
    let value = 0xffffffff;
    for (const byte of bytes) {
        value = (CRCS[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
    }
    return (value ^ 0xffffffff) >>> 0;
}

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns which frame is shown after a time. */
export function frameAt(frames: readonly Frame[], milliseconds: number): number {
    const length = frames.reduce((sum, frame) => sum + frame.milliseconds, 0);
    let left = length > 0 ? milliseconds % length : 0;
    return Math.max(
        0,
        frames.findIndex((frame) => (left -= frame.milliseconds) < 0),
    );
}

/** Draws the canvas as it is when a frame is shown. */
export async function drawFrame(canvas: HTMLCanvasElement, animation: Animation, shown: number): Promise<void> {
    const frames = animation.frames.slice(0, shown + 1);
    const pictures = await Promise.all(frames.map((frame) => createImageBitmap(frame.png)));
    const context = canvas.getContext("2d");
    canvas.width = animation.width;
    canvas.height = animation.height;
    frames.forEach((frame, at) => {
        const picture = pictures[at];
        if (!context || !picture) {
            return;
        }
        const { x, y, width, height } = frame;
        const before = frame.dispose === "restore" && at < shown ? context.getImageData(x, y, width, height) : null;
        if (!frame.blends) {
            context.clearRect(x, y, width, height);
        }
        context.drawImage(picture, x, y);
        if (at < shown && frame.dispose === "clear") {
            context.clearRect(x, y, width, height);
        } else if (before) {
            context.putImageData(before, x, y);
        }
        picture.close();
    });
}
