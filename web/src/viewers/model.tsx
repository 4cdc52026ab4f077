/** Models that turn and move. */

import { useEffect, useRef, useState } from "preact/hooks";
import { files, request } from "../model/api";
import { formatCount } from "../model/format";
import { setParams, useKeys, useSize, useSwitch } from "../model/hooks";
import { Failure, Switch, Waiting } from "../parts/controls";
import { IconButton } from "../parts/icons";
import { Animations } from "./animations";
import type { ModelScene } from "./scene";
import type { ViewerProps } from "./viewer";

export function ModelViewer({ facet, params }: ViewerProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [scene, setScene] = useState<ModelScene | null>(null);
    const [error, setError] = useState<Error | null>(null);
    const [stage, size] = useSize<HTMLDivElement>();

    useEffect(() => {
        const abort = new AbortController();
        let opened: ModelScene | null = null;
        const open = async () => {
            const bytes = await (await request(files(facet.path), { signal: abort.signal })).arrayBuffer();
            const { openModel } = await import("./scene");
            if (canvas.current && !abort.signal.aborted) {
                opened = await openModel(canvas.current, bytes);
                abort.signal.aborted ? opened.dispose() : setScene(opened);
            }
        };
        open().catch((error: Error) => abort.signal.aborted || setError(error));
        return () => {
            abort.abort();
            opened?.dispose();
        };
    }, []);
    useEffect(() => scene?.resize(size.width, size.height), [scene, size.width, size.height]);

    const press = (event: KeyboardEvent) => {
        const actions: Record<string, (scene: ModelScene) => void> = {
            ArrowLeft: (scene) => scene.turn(-1, 0),
            ArrowRight: (scene) => scene.turn(1, 0),
            ArrowUp: (scene) => scene.turn(0, 1),
            ArrowDown: (scene) => scene.turn(0, -1),
            "+": (scene) => scene.zoom(0.85),
            "-": (scene) => scene.zoom(1.18),
        };
        const action = actions[event.key];
        if (action && scene) {
            event.preventDefault();
            action(scene);
        }
    };
    return (
        <div class="viewer">
            {scene && <Switches scene={scene} />}
            {error && <Failure error={error} />}
            <div class="model">
                <div class="stage model-stage" ref={stage} hidden={error !== null}>
                    <canvas
                        ref={canvas}
                        role="img"
                        aria-label={`Model ${facet.label}. The arrow keys turn it.`}
                        tabIndex={0}
                        onKeyDown={press}
                    />
                    {!scene && <Waiting label="Loading the model" />}
                </div>
                {scene && scene.clips.length > 0 && (
                    <Animations
                        scene={scene}
                        chosen={params["anim"] ?? null}
                        onChoose={(anim) => setParams({ anim: anim ?? undefined })}
                    />
                )}
            </div>
        </div>
    );
}

/** Switches of how the model is drawn. */
function Switches({ scene }: { scene: ModelScene }) {
    const [wireframe, setWireframe] = useState(false);
    const [hidden, setHidden] = useState(false);
    const [turning, setTurning] = useState(false);
    const [pixels, setPixels] = useSwitch("texels", false);
    useEffect(() => scene.setWireframe(wireframe), [wireframe]);
    useEffect(() => scene.setHiddenShown(hidden), [hidden]);
    useEffect(() => scene.setTurning(turning), [turning]);
    useEffect(() => scene.setPixels(pixels), [pixels]);
    useKeys({
        w: () => setWireframe(!wireframe),
        h: () => setHidden(!hidden),
        t: () => setTurning(!turning),
        r: () => scene.reset(),
    });
    const { triangles, textures } = scene.facts;
    return (
        <div class="viewer-bar">
            <IconButton icon="model" label="Wireframe (w)" pressed={wireframe} onClick={() => setWireframe(!wireframe)}>
                Wireframe
            </IconButton>
            {scene.hiddenCount > 0 && (
                <Switch
                    label={`Hidden nodes (${scene.hiddenCount})`}
                    title="Hidden nodes (h)"
                    isOn={hidden}
                    onChange={setHidden}
                />
            )}
            <Switch label="Turn" title="Turn (t)" isOn={turning} onChange={setTurning} />
            {textures > 0 && <Switch label="Pixels" isOn={pixels} onChange={setPixels} />}
            <button type="button" class="button" title="Reset the view (r)" onClick={() => scene.reset()}>
                Reset view
            </button>
            <span class="facts">
                {formatCount(triangles, "triangle")}
                {textures > 0 && `, ${formatCount(textures, "texture")}`}
            </span>
        </div>
    );
}
