/** Texts with the numbers of their lines, and finding in them. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { files, request } from "../model/api";
import { formatCount, formatSize } from "../model/format";
import { setParams, useKeys, useLoaded } from "../model/hooks";
import { Failure, FilterField, Waiting } from "../parts/controls";
import { IconButton } from "../parts/icons";
import { decodeText, findAll, lineStarts } from "./lines";
import type { ViewerProps } from "./viewer";

/** Longer texts are shown as far as this; the whole of them can be downloaded. */
const MAX_SHOWN = 4 << 20;

/** The height of a line, and what is above the first one, as in the style sheet. */
const LINE = 20;
const PADDING = 8;

async function loadText(path: string, size: number | null, signal: AbortSignal): Promise<string> {
    const range = size !== null && size > MAX_SHOWN ? { headers: { Range: `bytes=0-${MAX_SHOWN - 1}` } } : {};
    return decodeText(await (await request(files(path), { signal, ...range })).arrayBuffer());
}

export function TextViewer({ facet, params }: ViewerProps) {
    const { value: text, error } = useLoaded(facet.path, (signal) => loadText(facet.path, facet.size, signal));
    const [wanted, setWanted] = useState("");
    const [at, setAt] = useState(0);
    const element = useRef<HTMLDivElement>(null);
    const content = useRef<HTMLPreElement>(null);
    const starts = useMemo(() => lineStarts(text ?? ""), [text]);
    const found = useMemo(() => findAll(text ?? "", wanted), [text, wanted]);
    const current = found.length > 0 ? ((at % found.length) + found.length) % found.length : -1;

    useKeys({ f: () => element.current?.querySelector("input")?.focus() });
    useEffect(() => {
        const node = content.current?.firstChild;
        const ranges = node instanceof Text ? found.map((start) => makeRange(node, start, start + wanted.length)) : [];
        highlight(
            "found",
            ranges.filter((_, number) => number !== current),
        );
        highlight("current", ranges.slice(current, current + 1));
        reveal(element.current, ranges[current]);
        return () => {
            highlight("found", []);
            highlight("current", []);
        };
    }, [found, current]);
    useEffect(() => {
        const line = Number(params["row"] ?? 0);
        const node = content.current?.firstChild;
        const start = starts[line - 1];
        if (node instanceof Text && start !== undefined) {
            const range = makeRange(node, start, starts[line] ?? node.length);
            highlight("line", [range]);
            reveal(element.current, range);
        }
        return () => highlight("line", []);
    }, [starts, params["row"]]);

    if (text === null) {
        return error ? <Failure error={error} /> : <Waiting />;
    }
    const find = (value: string) => {
        setWanted(value);
        setAt(0);
    };
    const markLine = (event: MouseEvent) => {
        const line = Math.floor((event.offsetY - PADDING) / LINE);
        setParams({ row: String(Math.min(Math.max(line, 0), starts.length - 1) + 1) });
    };
    return (
        <div class="viewer" ref={element}>
            <div class="viewer-bar">
                <FilterField label="Find" value={wanted} onInput={find} onEnter={(back) => setAt(at + (back ? -1 : 1))}>
                    {wanted !== "" && (
                        <output class="facts">
                            {found.length === 0 ? "none" : `${current + 1} of ${found.length}`}
                        </output>
                    )}
                </FilterField>
                {found.length > 1 && (
                    <span class="group">
                        <IconButton icon="left" label="Find the one before" onClick={() => setAt(at - 1)} />
                        <IconButton icon="right" label="Find the next" onClick={() => setAt(at + 1)} />
                    </span>
                )}
                <span class="facts">
                    {formatCount(starts.length, "line")}
                    {facet.size !== null &&
                        facet.size > MAX_SHOWN &&
                        `, the first ${formatSize(MAX_SHOWN)} of ${formatSize(facet.size)}`}
                </span>
            </div>
            <div class="text" tabIndex={0} role="region" aria-label={facet.label}>
                <pre class="text-numbers" aria-hidden="true" title="Link to this line" onClick={markLine}>
                    {starts.map((_, line) => line + 1).join("\n")}
                </pre>
                <pre class="text-content" ref={content}>
                    {text}
                </pre>
            </div>
        </div>
    );
}

function makeRange(node: Text, start: number, end: number): Range {
    const range = new Range();
    range.setStart(node, start);
    range.setEnd(node, Math.min(end, node.length));
    return range;
}

/** Colors parts of a text without elements of their own, where the browser can. */
function highlight(name: string, ranges: readonly Range[]): void {
    CSS.highlights?.set(name, new Highlight(...ranges));
}

function reveal(viewer: HTMLElement | null, range: Range | undefined): void {
    const scrolled = viewer?.querySelector(".text");
    if (!scrolled || !range) {
        return;
    }
    const place = range.getBoundingClientRect();
    const view = scrolled.getBoundingClientRect();
    if (place.top < view.top || place.bottom > view.bottom) {
        scrolled.scrollTop += place.top - view.top - view.height / 2;
    }
    if (place.left < view.left || place.right > view.right) {
        scrolled.scrollLeft += place.left - view.left - view.width / 2;
    }
}
