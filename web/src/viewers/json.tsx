/** JSON as a tree that folds. */

import { useState } from "preact/hooks";
import { readText } from "../model/api";
import { formatCount } from "../model/format";
import { useLoaded } from "../model/hooks";
import { Failure, Waiting } from "../parts/controls";
import type { ViewerProps } from "./viewer";

/** Values of a long list appear in parts. */
const PART = 200;

/** Levels that are unfolded at first, if they are short. */
const UNFOLDED_LEVELS = 2;
const UNFOLDED_LENGTH = 30;

export function JsonViewer({ facet }: ViewerProps) {
    const { value, error } = useLoaded(facet.path, async (signal) => {
        return { parsed: JSON.parse(await readText(facet.path, signal)) as unknown };
    });
    if (!value) {
        return error ? <Failure error={error} /> : <Waiting />;
    }
    return (
        <div class="viewer json" tabIndex={0} role="region" aria-label={facet.label}>
            <Value name={null} value={value.parsed} level={0} />
        </div>
    );
}

interface ValueProps {
    name: string | null;
    value: unknown;
    level: number;
}

function Value({ name, value, level }: ValueProps) {
    if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
        return <Group name={name} value={value} level={level} />;
    }
    return (
        <div class="json-line">
            {name !== null && <span class="json-name">{name}: </span>}
            <span class={typeof value === "object" ? "json-null" : `json-${typeof value}`}>
                {JSON.stringify(value)}
            </span>
        </div>
    );
}

function Group({ name, value, level }: ValueProps & { value: object }) {
    const isList = Array.isArray(value);
    const entries = Object.entries(value) as [string, unknown][];
    const [isOpen, setIsOpen] = useState(level === 0 || (level < UNFOLDED_LEVELS && entries.length <= UNFOLDED_LENGTH));
    const [shown, setShown] = useState(PART);
    const summary = formatCount(entries.length, isList ? "item" : "field");
    return (
        <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
            <summary>
                {name !== null && <span class="json-name">{name}: </span>}
                <span class="facts">
                    {isList ? "[ ]" : "{ }"} {summary}
                </span>
            </summary>
            {isOpen && (
                <div class="json-inside">
                    {entries.slice(0, shown).map(([key, inner]) => (
                        <Value key={key} name={key} value={inner} level={level + 1} />
                    ))}
                    {shown < entries.length && (
                        <button type="button" class="button" onClick={() => setShown(shown + 5 * PART)}>
                            {(entries.length - shown).toLocaleString("en")} more
                        </button>
                    )}
                </div>
            )}
        </details>
    );
}
