/** The animations of a model, and their player. */

import { useEffect, useState } from "preact/hooks";
import { formatCount, formatLength } from "../model/format";
import { useKeys } from "../model/hooks";
import { FilterField } from "../parts/controls";
import { IconButton } from "../parts/icons";
import type { ModelScene } from "./scene";

/** Lists that are longer have a filter. */
const SHORT = 8;

const SPEEDS = [0.25, 0.5, 1, 2];

interface AnimationsProps {
    scene: ModelScene;
    chosen: string | null;
    onChoose: (name: string | null) => void;
}

export function Animations({ scene, chosen, onChoose }: AnimationsProps) {
    const [filter, setFilter] = useState("");
    const wanted = filter.toLowerCase();
    const shown = scene.clips.filter((clip) => clip.name.toLowerCase().includes(wanted));
    const clip = scene.clips.find((clip) => clip.name === chosen);
    useEffect(() => scene.choose(chosen), [chosen]);
    return (
        <section class="animations" aria-label="Animations">
            {clip && <Player key={clip.name} scene={scene} seconds={clip.seconds} />}
            <div class="animations-head">
                <h2>{formatCount(scene.clips.length, "animation")}</h2>
                {scene.clips.length > SHORT && (
                    <FilterField label="Filter animations" value={filter} onInput={setFilter} />
                )}
            </div>
            <ul>
                <li>
                    <button type="button" aria-pressed={!clip} onClick={() => onChoose(null)}>
                        <i>At rest</i>
                    </button>
                </li>
                {shown.map(({ name, seconds }) => (
                    <li key={name}>
                        <button
                            type="button"
                            aria-pressed={name === chosen}
                            aria-label={name}
                            onClick={() => onChoose(name)}
                        >
                            <span>{name}</span>
                            <span class="facts">{formatLength(seconds)}</span>
                        </button>
                    </li>
                ))}
            </ul>
        </section>
    );
}

function Player({ scene, seconds }: { scene: ModelScene; seconds: number }) {
    const [plays, setPlays] = useState(true);
    const [time, setTime] = useState(0);
    const [speed, setSpeed] = useState(1);
    useEffect(() => scene.setPlaying(plays), [plays]);
    useEffect(() => scene.setSpeed(speed), [speed]);
    useEffect(() => {
        scene.onTime = setTime;
        return () => {
            scene.onTime = () => undefined;
        };
    }, []);
    useKeys({ " ": () => setPlays(!plays) });
    return (
        <div class="player">
            <IconButton
                icon={plays ? "pause" : "play"}
                label={plays ? "Pause" : "Play"}
                onClick={() => setPlays(!plays)}
            />
            <input
                type="range"
                aria-label="Time"
                min={0}
                max={seconds}
                step="any"
                value={time}
                onInput={(event) => {
                    setPlays(false);
                    setTime(event.currentTarget.valueAsNumber);
                    scene.seek(event.currentTarget.valueAsNumber);
                }}
            />
            <output class="facts">{formatLength(time)}</output>
            <select aria-label="Speed" value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
                {SPEEDS.map((speed) => (
                    <option key={speed} value={speed}>
                        {speed} ×
                    </option>
                ))}
            </select>
        </div>
    );
}
