/** What the server is busy with, below the tree. */

import { useEffect, useState } from "preact/hooks";
import { state, type State } from "../model/api";
import { formatCount } from "../model/format";

/** How often the state is asked for while the index grows, and later. */
const GROWING_MS = 2_000;
const QUIET_MS = 20_000;

const isGrowing = ({ index }: State): boolean => index?.texts === "running" || index?.names === "running";

/** Asks for the state again and again, but not in the background; null if there is no answer. */
function useServerState(): State | null {
    const [known, setKnown] = useState<State | null>(null);
    useEffect(() => {
        let timer = 0;
        let isShown = true;
        const ask = async () => {
            let next = QUIET_MS;
            if (!document.hidden) {
                const answer = await state().catch(() => null);
                next = answer !== null && isGrowing(answer) ? GROWING_MS : QUIET_MS;
                setKnown(answer);
            }
            if (isShown) {
                timer = window.setTimeout(() => void ask(), next);
            }
        };
        void ask();
        return () => {
            isShown = false;
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
    return (
        <div class="status facts" role="status">
            {index && isGrowing(known) ? (
                <label>
                    <span>{index.names === "running" ? "Collecting names" : "Indexing texts"}</span>
                    <progress value={index.done} max={Math.max(index.of, 1)} />
                </label>
            ) : (
                <span>hpimount {known.version}</span>
            )}
            {errors > 0 && (
                <details>
                    <summary class="badge badge-warning">{formatCount(errors, "error")}</summary>
                    <ul class="messages">
                        {known.messages?.map((message, at) => (
                            <li key={at}>{message}</li>
                        ))}
                    </ul>
                </details>
            )}
        </div>
    );
}
