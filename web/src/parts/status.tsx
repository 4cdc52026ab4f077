/** What the server is busy with, below the tree. */

import { useEffect, useState } from "preact/hooks";
import { state, type State } from "../model/api";
import { formatCount } from "../model/format";

const AGAIN_MS = 2_000;

/** Asks for the state while the index grows, and not in the background. */
function useServerState(): State | null {
    const [known, setKnown] = useState<State | null>(null);
    useEffect(() => {
        let timer = 0;
        let isLast = false;
        const ask = async () => {
            if (!document.hidden) {
                const answer = await state().catch(() => null);
                isLast = answer === null || (answer.index?.texts !== "running" && answer.index?.names !== "running");
                setKnown(answer);
            }
            if (!isLast) {
                timer = window.setTimeout(() => void ask(), AGAIN_MS);
            }
        };
        void ask();
        return () => {
            isLast = true;
            clearTimeout(timer);
        };
    }, []);
    return known;
}

export function Status() {
    const known = useServerState();
    if (!known) {
        return null;
    }
    const { index, errors } = known;
    const isGrowing = index?.texts === "running" || index?.names === "running";
    return (
        <div class="status facts" role="status">
            {index && isGrowing ? (
                <label>
                    <span>Indexing texts</span>
                    <progress value={index.done} max={Math.max(index.of, 1)} />
                </label>
            ) : (
                <span>hpimount {known.version}</span>
            )}
            {errors > 0 && (
                <details>
                    <summary class="badge badge-warning">{formatCount(errors, "error")}</summary>
                    <ul class="messages">
                        {known.messages?.map((message, at) => <li key={at}>{message}</li>)}
                    </ul>
                </details>
            )}
        </div>
    );
}
