/** The keys, as a dialog. */

import { useEffect, useRef } from "preact/hooks";
import { state } from "../model/api";
import { useLoaded } from "../model/hooks";
import { IconButton } from "./icons";

const KEYS: [string, string][] = [
    ["← ↑ → ↓", "Move in the folder, in the tree, around a model"],
    ["Enter", "Open"],
    ["Backspace", "Go up"],
    ["[ ]", "The file before, the next one"],
    ["/", "Search names and texts"],
    ["f", "Filter the folder or table, find in the text"],
    ["Space", "Play or pause"],
    ["l", "Loop a sound"],
    [", .", "The frame before, the next one"],
    ["+ − 0", "Zoom, fit a picture"],
    ["w", "Wireframe"],
    ["h", "Hidden nodes"],
    ["t", "Turn a model"],
    ["r", "Reset the view of a model"],
    ["d", "Download"],
    ["?", "This help"],
];

export function Help({ onClose }: { onClose: () => void }) {
    const dialog = useRef<HTMLDialogElement>(null);
    const { value } = useLoaded("state", state);
    useEffect(() => dialog.current?.showModal(), []);
    return (
        <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose}>
            <div class="dialog-head">
                <h2 id="help-title">Keys</h2>
                <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
            </div>
            <dl class="keys">
                {KEYS.map(([keys, meaning]) => (
                    <div key={keys}>
                        <dt>
                            {keys.split(" ").map((key) => (
                                <kbd key={key}>{key}</kbd>
                            ))}
                        </dt>
                        <dd>{meaning}</dd>
                    </div>
                ))}
            </dl>
            <p class="facts">
                hpimount {value?.version} · <a href="licences">Licences</a>
            </p>
        </dialog>
    );
}
