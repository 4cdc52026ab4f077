/** What was found by a search, while the index of the texts is still being built. */

import { useEffect, useState } from "preact/hooks";
import { type Found, type IndexState, search } from "../model/api";
import { formatCount, formatSize } from "../model/format";
import { nameOf, parentOf } from "../model/paths";
import { linkTo } from "../model/route";
import { Failure, Waiting } from "./controls";
import { Icon } from "./icons";

/** How often a search is repeated while the index grows. */
const AGAIN_MS = 2_000;

interface Results {
    entries: Found[];
    next: string | null;
    state: IndexState;
}

export function Search({ path, q }: { path: string; q: string }) {
    const [results, setResults] = useState<Results | null>(null);
    const [error, setError] = useState<Error | null>(null);
    useEffect(() => {
        const abort = new AbortController();
        let timer = 0;
        const ask = () =>
            search(q, path, null, abort.signal).then(
                (page) => {
                    setResults(page);
                    if (isGrowing(page.state)) {
                        timer = window.setTimeout(
                            () => (document.hidden ? (timer = window.setTimeout(ask, AGAIN_MS)) : void ask()),
                            AGAIN_MS,
                        );
                    }
                },
                (error: Error) => abort.signal.aborted || setError(error),
            );
        void ask();
        return () => {
            abort.abort();
            clearTimeout(timer);
        };
    }, [path, q]);
    const more = async () => {
        if (results?.next) {
            const page = await search(q, path, results.next);
            setResults({ ...page, entries: [...results.entries, ...page.entries] });
        }
    };
    if (error) {
        return <Failure error={error} />;
    }
    if (!results) {
        return <Waiting label="Searching" />;
    }
    return (
        <div class="results" tabIndex={0} role="region" aria-label="Results">
            <p role="status">
                {formatCount(results.entries.length, "result")}
                {results.next && " and more"} for <b>{q}</b>
                {path && (
                    <>
                        {" "}
                        in {path} (<a href={linkTo("", { q })}>search everywhere</a>)
                    </>
                )}
                {isGrowing(results.state) && (
                    <span class="facts">
                        {" "}
                        Texts are being indexed: {results.state.done.toLocaleString("en")} of{" "}
                        {results.state.of.toLocaleString("en")}
                    </span>
                )}
            </p>
            <ul>
                {results.entries.map((found) => (
                    <Result key={`${found.in} ${found.path}`} found={found} q={q} />
                ))}
            </ul>
            {results.next && (
                <button type="button" class="button" onClick={() => void more()}>
                    More
                </button>
            )}
        </div>
    );
}

const isGrowing = (state: IndexState): boolean => state.names === "running" || state.texts === "running";

function Result({ found, q }: { found: Found; q: string }) {
    const icon = found.kind === "directory" ? "folder" : (found.view ?? "hex");
    return (
        <li class={`kind-${icon}`}>
            <Icon name={icon} />
            <div>
                <a href={linkTo(found.path)}>{nameOf(found.path)}</a>
                <span class="facts"> {formatSize(found.size)}</span>
                <div class="facts">{parentOf(found.path) || "/"}</div>
                {found.snippet && (
                    <div class="snippet">
                        <Snippet text={found.snippet} q={q} />
                    </div>
                )}
            </div>
        </li>
    );
}

/** The server marks what was found with "<" and ">". */
function Snippet({ text, q }: { text: string; q: string }) {
    const parts = text.split(new RegExp(`<(${escape(q)}[^<>]*)>`, "i"));
    return parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part));
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
