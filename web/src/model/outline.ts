/** The lines of the tree: the folders and archives in the folders that are unfolded. */

import type { Entry } from "./api";
import { compareTexts } from "./order";
import { ancestors, join } from "./paths";
import { isArchive, withoutInsides } from "./places";

export interface Line {
    /** The folder that the line leads to. */
    path: string;
    name: string;
    entry: Entry;
    level: number;
    position: number;
    siblings: number;
    isUnfolded: boolean;
}

/** Returns the folders and archives of a folder, but not what shows single files. */
export function branches(entries: readonly Entry[]): Entry[] {
    const found = withoutInsides(entries).filter((entry) => entry.kind === "directory" || isArchive(entry));
    return found.sort((a, b) => compareTexts(a.name, b.name));
}

/** Returns the lines below a folder; `entriesOf` returns null for what is not loaded. */
export function outline(
    unfolded: ReadonlySet<string>,
    entriesOf: (path: string) => readonly Entry[] | null,
    path = "",
    level = 1,
): Line[] {
    const found = branches(entriesOf(path) ?? []);
    return found.flatMap((entry, at) => {
        const below = join(path, isArchive(entry) && entry.enter !== null ? entry.enter : entry.name);
        const isUnfolded = unfolded.has(below);
        const line = {
            path: below,
            name: entry.name,
            entry,
            level,
            position: at + 1,
            siblings: found.length,
            isUnfolded,
        };
        return [line, ...(isUnfolded ? outline(unfolded, entriesOf, below, level + 1) : [])];
    });
}

/** Returns the position of the line that leads to a path, or to the next folder above it. */
export function lineOf(lines: readonly Line[], path: string): number {
    for (const above of ancestors(path).reverse()) {
        const at = lines.findIndex((line) => line.path === above);
        if (at >= 0) {
            return at;
        }
    }
    return -1;
}
