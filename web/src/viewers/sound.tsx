/** Sounds, with their waveform and their loop. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { files, request } from "../model/api";
import { formatLength } from "../model/format";
import { useKeys, useLoaded, useSetting, useSize } from "../model/hooks";
import { Failure, Switch, Waiting } from "../parts/controls";
import { IconButton } from "../parts/icons";
import { Player } from "./player";
import { parseWav, peaksOf, type WavFacts } from "./wav";
import type { ViewerProps } from "./viewer";

/** Longer files are played as they arrive, without a waveform. */
const MAX_DECODED = 96 << 20;

interface Sound {
    player: Player;
    facts: WavFacts | null;
}

async function loadSound(path: string, signal: AbortSignal): Promise<Sound> {
    const bytes = await (await request(files(path), { signal })).arrayBuffer();
    const facts = parseWav(bytes);
    const rate = Math.min(Math.max(facts?.sampleRate ?? 44_100, 8_000), 96_000);
    const loop = facts?.loop && {
        start: facts.loop.start * (rate / facts.sampleRate),
        end: facts.loop.end * (rate / facts.sampleRate),
    };
    return { player: await Player.open(bytes, loop ?? null, rate), facts };
}

export function SoundViewer({ facet }: ViewerProps) {
    const isLong = (facet.size ?? 0) > MAX_DECODED;
    const { value: sound, error } = useLoaded(isLong ? null : facet.path, (signal) => loadSound(facet.path, signal));
    useEffect(() => () => sound?.player.close(), [sound]);
    if (isLong || error) {
        return <Streamed path={facet.path} error={error} />;
    }
    return sound ? <Decoded key={facet.path} sound={sound} name={facet.label} /> : <Waiting />;
}

/** The player of the browser, for what is too long or in another format. */
function Streamed({ path, error }: { path: string; error: Error | null }) {
    return (
        <div class="viewer sound">
            {error && <Failure error={error} />}
            <audio controls src={files(path)} />
        </div>
    );
}

function Decoded({ sound: { player, facts }, name }: { sound: Sound; name: string }) {
    const [plays, setPlays] = useState(false);
    const [position, setPosition] = useState(0);
    const [loops, setLoops] = useState(facts?.loop != null);
    const [volume, setVolume] = useSetting<string>("volume", "1");

    useEffect(() => player.setLoops(loops), [loops]);
    useEffect(() => player.setVolume(Number(volume)), [volume]);
    useEffect(() => {
        player.onEnd = () => setPlays(false);
    }, []);
    useEffect(() => {
        if (!plays) {
            setPosition(player.position);
            return;
        }
        let frame = 0;
        const follow = () => {
            setPosition(player.position);
            frame = requestAnimationFrame(follow);
        };
        follow();
        return () => cancelAnimationFrame(frame);
    }, [plays]);

    const toggle = () => {
        plays ? player.pause() : player.play();
        setPlays(!plays);
    };
    const seek = (seconds: number) => {
        player.seek(seconds);
        setPosition(seconds);
    };
    useKeys({ " ": toggle, l: () => setLoops(!loops) });
    return (
        <div class="viewer sound">
            <Waveform player={player} position={position} marksLoop={facts?.loop != null} onSeek={seek} />
            <div class="viewer-bar player">
                <IconButton
                    class="primary"
                    icon={plays ? "pause" : "play"}
                    label={plays ? "Pause" : "Play"}
                    onClick={toggle}
                />
                <input
                    type="range"
                    aria-label={`Position in ${name}`}
                    aria-valuetext={`${formatLength(position)} of ${formatLength(player.seconds)}`}
                    min={0}
                    max={player.seconds}
                    step="any"
                    value={position}
                    onInput={(event) => seek(event.currentTarget.valueAsNumber)}
                />
                <output class="facts">
                    {formatLength(position)} / {formatLength(player.seconds)}
                </output>
                <Switch label="Loop" title="Loop (l)" isOn={loops} onChange={setLoops} />
                <label class="volume">
                    <span>Volume</span>
                    <input
                        type="range"
                        min={0}
                        max={1}
                        step={0.05}
                        value={volume}
                        onInput={(event) => setVolume(event.currentTarget.value)}
                    />
                </label>
            </div>
            {facts && (
                <p class="facts">
                    {facts.sampleRate.toLocaleString("en")} Hz,{" "}
                    {facts.channels === 1 ? "mono" : facts.channels === 2 ? "stereo" : `${facts.channels} channels`},{" "}
                    {facts.bits} bits
                    {facts.loop &&
                        `, loop from sample ${facts.loop.start.toLocaleString("en")} to ${facts.loop.end.toLocaleString("en")}`}
                </p>
            )}
        </div>
    );
}

interface WaveformProps {
    player: Player;
    position: number;
    marksLoop: boolean;
    onSeek: (seconds: number) => void;
}

/** The waveform as a shape: its height is from -1 to 1, its width one for each peak. */
function Waveform({ player, position, marksLoop, onSeek }: WaveformProps) {
    const [element, { width }] = useSize<HTMLDivElement>();
    const [shapes, setShapes] = useState<string[]>([]);
    const parts = Math.max(1, Math.floor(width / 2));
    const drags = useRef(false);
    useLayoutEffect(() => {
        const channels = Array.from({ length: player.buffer.numberOfChannels }, (_, channel) =>
            player.buffer.getChannelData(channel),
        );
        setShapes(
            channels.map((samples) =>
                peaksOf(samples, parts)
                    .map(({ low, high }, at) => `M${at + 0.5} ${-high - 0.005}V${-low + 0.005}`)
                    .join(""),
            ),
        );
    }, [player, parts]);
    const share = (seconds: number) => `${(100 * seconds) / player.seconds}%`;
    const seek = (event: PointerEvent & { currentTarget: HTMLDivElement }) => {
        const box = event.currentTarget.getBoundingClientRect();
        const at = (event.clientX - box.left) / box.width;
        onSeek(Math.min(Math.max(at, 0), 0.999) * player.seconds);
    };
    const { start, end } = player.repeated;
    return (
        <div
            class="waveform"
            ref={element}
            aria-hidden="true"
            onPointerDown={(event) => {
                drags.current = true;
                event.currentTarget.setPointerCapture(event.pointerId);
                seek(event);
            }}
            onPointerMove={(event) => drags.current && seek(event)}
            onPointerUp={() => (drags.current = false)}
        >
            {marksLoop && <div class="waveform-loop" style={{ left: share(start), width: share(end - start) }} />}
            {shapes.map((shape, channel) => (
                <svg key={channel} viewBox={`0 -1.05 ${parts} 2.1`} preserveAspectRatio="none">
                    <path d={shape} />
                </svg>
            ))}
            <div class="waveform-position" style={{ left: share(position) }} />
        </div>
    );
}
