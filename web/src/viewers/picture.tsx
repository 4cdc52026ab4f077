/** Pictures, and sprites with their frames. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { files, request } from "../model/api";
import { extensionOf } from "../model/paths";
import { useKeys, useLoaded, useSize, useSwitch } from "../model/hooks";
import { Failure, Switch, Waiting } from "../parts/controls";
import { IconButton } from "../parts/icons";
import { type Animation, drawFrame, frameAt, parseAnimation } from "./png";
import type { ViewerProps } from "./viewer";

interface Picture {
    source: string;
    animation: Animation | null;
}

const ZOOMS = [0.1, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

async function loadPicture(path: string, signal: AbortSignal): Promise<Picture> {
    if (!["png", "apng"].includes(extensionOf(path))) {
        return { source: files(path), animation: null };
    }
    const blob = await (await request(files(path), { signal })).blob();
    const animation = parseAnimation(new Uint8Array(await blob.arrayBuffer()));
    return {
        source: URL.createObjectURL(blob),
        animation: animation && animation.frames.length > 1 ? animation : null,
    };
}

export function PictureViewer({ facet }: ViewerProps) {
    const { value: picture, error } = useLoaded(facet.path, (signal) => loadPicture(facet.path, signal));
    useEffect(() => () => URL.revokeObjectURL(picture?.source ?? ""), [picture]);
    if (!picture) {
        return error ? <Failure error={error} /> : <Waiting />;
    }
    return <Stage key={facet.path} picture={picture} name={facet.label} />;
}

function Stage({ picture, name }: { picture: Picture; name: string }) {
    const [size, setSize] = useState<{ width: number; height: number } | null>(null);
    const [zoom, setZoom] = useState<number | null>(null);
    const [pixels, setPixels] = useSwitch("pixels", true);
    const [checks, setChecks] = useSwitch("checkerboard", true);
    const [frame, setFrame] = useState<number | null>(null);
    const [failed, setFailed] = useState(false);
    const shownSince = useRef(performance.now());
    const [element, view] = useSize<HTMLDivElement>();
    const drag = useDrag(element);

    const scale = zoom ?? (size ? fit(size, view) : 1);
    const step = (by: 1 | -1) => {
        const next = by > 0 ? ZOOMS.find((zoom) => zoom > scale + 1e-6) : ZOOMS.findLast((zoom) => zoom < scale - 1e-6);
        setZoom(next ?? scale);
    };
    const { animation } = picture;
    const frames = animation?.frames ?? [];
    const pause = () => setFrame(frameAt(frames, performance.now() - shownSince.current));
    const toggle = () => (frame === null ? pause() : setFrame(null));
    const stepFrame = (by: number) => setFrame(((frame ?? 0) + by + frames.length) % frames.length);
    useKeys({
        "+": () => step(1),
        "=": () => step(1),
        "-": () => step(-1),
        "0": () => setZoom(null),
        ...(animation && { " ": toggle, ",": () => stepFrame(-1), ".": () => stepFrame(1) }),
    });
    const wheel = (event: WheelEvent) => {
        if (event.ctrlKey || event.metaKey) {
            event.preventDefault();
            step(event.deltaY < 0 ? 1 : -1);
        }
    };
    const dimensions = size && { width: `${size.width * scale}px`, height: `${size.height * scale}px` };
    const look = pixels && scale >= 1 ? "pixels" : "";
    return (
        <div class="viewer">
            <div class="viewer-bar">
                <span class="group">
                    <button
                        type="button"
                        class="button"
                        aria-label="Smaller"
                        title="Smaller (-)"
                        onClick={() => step(-1)}
                    >
                        −
                    </button>
                    <output class="zoom" aria-label="Zoom">
                        {Math.round(scale * 100)} %
                    </output>
                    <button type="button" class="button" aria-label="Larger" title="Larger (+)" onClick={() => step(1)}>
                        +
                    </button>
                </span>
                <button type="button" class="button" aria-pressed={zoom === null} onClick={() => setZoom(null)}>
                    Fit
                </button>
                <button type="button" class="button" aria-pressed={zoom === 1} onClick={() => setZoom(1)}>
                    100 %
                </button>
                <Switch label="Pixels" isOn={pixels} onChange={setPixels} />
                <Switch label="Checkerboard" isOn={checks} onChange={setChecks} />
                {size && (
                    <span class="facts">
                        {size.width} × {size.height}
                    </span>
                )}
            </div>
            <div
                class={`stage ${checks ? "checks" : ""}`}
                ref={element}
                tabIndex={0}
                role="region"
                aria-label={`Picture ${name}`}
                onWheel={wheel}
                {...drag}
            >
                {failed && <Failure error={new Error("The browser cannot show this picture. It can be downloaded.")} />}
                <img
                    src={picture.source}
                    alt={name}
                    class={look}
                    hidden={frame !== null || failed}
                    style={dimensions ?? {}}
                    draggable={false}
                    onLoad={(event) => {
                        const { naturalWidth: width, naturalHeight: height } = event.currentTarget;
                        setSize({ width, height });
                        shownSince.current = performance.now();
                    }}
                    onError={() => setFailed(true)}
                />
                {animation && frame !== null && (
                    <FrameCanvas animation={animation} frame={frame} look={look} style={dimensions ?? {}} name={name} />
                )}
            </div>
            {animation && (
                <div class="viewer-bar player">
                    <IconButton
                        icon={frame === null ? "pause" : "play"}
                        label={frame === null ? "Pause" : "Play"}
                        onClick={toggle}
                    />
                    <IconButton icon="left" label="Frame before (,)" onClick={() => stepFrame(-1)} />
                    <input
                        type="range"
                        aria-label="Frame"
                        min={0}
                        max={frames.length - 1}
                        value={frame ?? 0}
                        onInput={(event) => setFrame(event.currentTarget.valueAsNumber)}
                    />
                    <IconButton icon="right" label="Next frame (.)" onClick={() => stepFrame(1)} />
                    <span class="facts">
                        {frame === null
                            ? `${frames.length} frames`
                            : `${frame + 1} of ${frames.length}, ${Math.round(frames[frame]?.milliseconds ?? 0)} ms`}
                    </span>
                </div>
            )}
        </div>
    );
}

interface FrameCanvasProps {
    animation: Animation;
    frame: number;
    look: string;
    style: Record<string, string>;
    name: string;
}

function FrameCanvas({ animation, frame, look, style, name }: FrameCanvasProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    useLayoutEffect(() => {
        if (canvas.current) {
            void drawFrame(canvas.current, animation, frame);
        }
    }, [animation, frame]);
    return <canvas ref={canvas} class={look} style={style} role="img" aria-label={`${name}, frame ${frame + 1}`} />;
}

/** Small pictures are enlarged by whole numbers, so that their pixels stay square. */
function fit(size: { width: number; height: number }, view: { width: number; height: number }): number {
    const room = Math.min((view.width - 32) / size.width, (view.height - 32) / size.height);
    return room >= 1 ? Math.min(Math.floor(room), 8) : Math.max(room, 0.01);
}

/** Lets a picture that is larger than its view be dragged. */
function useDrag(element: { current: HTMLElement | null }) {
    const last = useRef<{ x: number; y: number } | null>(null);
    return {
        onPointerDown: (event: PointerEvent) => {
            if (event.pointerType === "mouse" && event.button === 0) {
                last.current = { x: event.clientX, y: event.clientY };
                element.current?.setPointerCapture(event.pointerId);
            }
        },
        onPointerMove: (event: PointerEvent) => {
            if (last.current) {
                element.current?.scrollBy(last.current.x - event.clientX, last.current.y - event.clientY);
                last.current = { x: event.clientX, y: event.clientY };
            }
        },
        onPointerUp: () => {
            last.current = null;
        },
    };
}
