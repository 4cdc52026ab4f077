/** The loops of WAV files, which browsers ignore. */

export interface Loop {
    start: number;
    /** One past the last sample. */
    end: number;
}

export interface WavFacts {
    sampleRate: number;
    channels: number;
    bits: number;
    loop: Loop | null;
}

/** Returns the format of a WAV file and its first loop; null if it is none. */
export function parseWav(bytes: ArrayBuffer): WavFacts | null {
    const view = new DataView(bytes);
    if (bytes.byteLength < 12 || tag(view, 0) !== "RIFF" || tag(view, 8) !== "WAVE") {
        return null;
    }
    let facts: WavFacts | null = null;
    let loop: Loop | null = null;
    let at = 12;
    while (at + 8 <= bytes.byteLength) {
        const length = view.getUint32(at + 4, true);
        const start = at + 8;
        const isWhole = start + length <= bytes.byteLength;
        if (tag(view, at) === "fmt " && length >= 16 && isWhole) {
            facts = {
                channels: view.getUint16(start + 2, true),
                sampleRate: view.getUint32(start + 4, true),
                bits: view.getUint16(start + 14, true),
                loop: null,
            };
        } else if (tag(view, at) === "smpl" && length >= 60 && isWhole && view.getUint32(start + 28, true) > 0) {
            // The end in the file is the last sample that is played.
            loop = { start: view.getUint32(start + 44, true), end: view.getUint32(start + 48, true) + 1 };
        }
        at = start + length + (length % 2);
    }
    return facts && { ...facts, loop };
}

function tag(view: DataView, at: number): string {
    return String.fromCharCode(...new Uint8Array(view.buffer, at, 4));
}

export interface Peak {
    low: number;
    high: number;
}

/** Returns the lowest and the highest sample of each of so many parts of a sound. */
export function peaksOf(samples: Float32Array, parts: number): Peak[] {
    return Array.from({ length: parts }, (_, part) => {
        const from = Math.floor((part * samples.length) / parts);
        const to = Math.max(from + 1, Math.floor(((part + 1) * samples.length) / parts));
        let low = 0;
        let high = 0;
        for (const sample of samples.subarray(from, to)) {
            low = Math.min(low, sample);
            high = Math.max(high, sample);
        }
        return { low, high };
    });
}
