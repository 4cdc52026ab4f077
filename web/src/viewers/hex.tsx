/** The bytes of any file, of which only the parts in view are fetched. */

import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { files, request } from "../model/api";
import { formatSize, hexadecimal } from "../model/format";
import { setParams, useKeys, useLoaded } from "../model/hooks";
import { Failure, Waiting } from "../parts/controls";
import { Scroller } from "../parts/scroller";
import type { ViewerProps } from "./viewer";

const PART = 64 << 10;
const KEPT = 32;
const ROW = 22;

/** Narrow windows have room for fewer bytes in a row. */
const NARROW = 620;

export function HexViewer({ facet, params }: ViewerProps) {
    const { value, error } = useLoaded(facet.size === null ? facet.path : null, async (signal) => {
        const response = await request(files(facet.path), { method: "HEAD", signal });
        return Number(response.headers.get("Content-Length"));
    });
    const size = facet.size ?? value;
    if (size === null) {
        return error ? <Failure error={error} /> : <Waiting />;
    }
    return <Bytes key={facet.path} path={facet.path} label={facet.label} size={size} at={Number(params["row"] ?? 0)} />;
}

function Bytes({ path, label, size, at }: { path: string; label: string; size: number; at: number }) {
    const [width, setWidth] = useState(1000);
    const { part, error } = useParts(path, size);
    const [wanted, setWanted] = useState("");
    const perRow = width < NARROW ? 8 : 16;
    const digits = size > 0xffff_ffff ? 12 : 8;
    const field = useRef<HTMLInputElement>(null);
    useKeys({ f: () => field.current?.focus() });
    const goTo = (event: SubmitEvent) => {
        event.preventDefault();
        const offset = Number(/^(0x|\d+$)/i.test(wanted) ? wanted : `0x${wanted}`);
        if (offset >= 0 && offset < size) {
            setParams({ row: String(offset) });
        }
    };
    return (
        <div class="viewer">
            <form class="viewer-bar" onSubmit={goTo}>
                <span class="field">
                    <input
                        ref={field}
                        type="text"
                        aria-label="Go to offset"
                        placeholder="Go to 0x…"
                        value={wanted}
                        spellcheck={false}
                        onInput={(event) => setWanted(event.currentTarget.value)}
                    />
                </span>
                <span class="facts">
                    {formatSize(size)} ({size.toLocaleString("en")})
                </span>
            </form>
            {error && <Failure error={error} />}
            <Scroller
                class="hex"
                tabIndex={0}
                role="region"
                aria-label={`Bytes of ${label}`}
                count={Math.ceil(size / perRow)}
                rowHeight={ROW}
                reveal={at > 0 ? Math.floor(at / perRow) : undefined}
                onWidth={setWidth}
            >
                {(row) => (
                    <HexRow
                        key={row}
                        offset={row * perRow}
                        perRow={perRow}
                        digits={digits}
                        bytes={part(row * perRow)}
                        marked={at}
                    />
                )}
            </Scroller>
        </div>
    );
}

interface HexRowProps {
    offset: number;
    perRow: number;
    digits: number;
    /** The bytes from the offset on, if they have arrived. */
    bytes: Uint8Array | null;
    marked: number;
}

function HexRow({ offset, perRow, digits, bytes, marked }: HexRowProps) {
    const shown = [...(bytes?.subarray(0, perRow) ?? [])];
    const isMarked = marked > 0 && marked >= offset && marked < offset + perRow;
    return (
        <div class={`hex-row ${isMarked ? "marked" : ""}`}>
            <span class="hex-offset">{hexadecimal(offset, digits)}</span>
            <span class="hex-bytes">
                {shown
                    .map((byte, at) => hexadecimal(byte, 2) + (at % 8 === 7 ? "  " : " "))
                    .join("")
                    .padEnd(perRow * 3 + perRow / 8)}
            </span>
            <span class="hex-text">
                {shown.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("")}
            </span>
        </div>
    );
}

/** Fetches parts of a file when they are asked for, and keeps the latest. */
function useParts(path: string, size: number) {
    const parts = useRef(new Map<number, Uint8Array | null>());
    const abort = useRef(new AbortController());
    const [error, setError] = useState<Error | null>(null);
    const [, arrived] = useReducer((count: number, _: null) => count + 1, 0);
    useEffect(() => () => abort.current.abort(), []);

    const fetchPart = async (number: number) => {
        const last = Math.min((number + 1) * PART, size) - 1;
        const response = await request(files(path), {
            headers: { Range: `bytes=${number * PART}-${last}` },
            signal: abort.current.signal,
        });
        const bytes = new Uint8Array(await response.arrayBuffer());
        // A server may answer with the whole file.
        parts.current.set(number, response.status === 206 ? bytes : bytes.slice(number * PART, last + 1));
        const [oldest] = parts.current.keys();
        if (parts.current.size > KEPT && oldest !== undefined) {
            parts.current.delete(oldest);
        }
        arrived(null);
    };
    const part = (offset: number): Uint8Array | null => {
        const number = Math.floor(offset / PART);
        if (!parts.current.has(number)) {
            parts.current.set(number, null);
            fetchPart(number).catch((error: Error) => abort.current.signal.aborted || setError(error));
        }
        return parts.current.get(number)?.subarray(offset % PART) ?? null;
    };
    return { part, error };
}
