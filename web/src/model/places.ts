/** Where the entries of a folder lead, and which one was opened last. */

import type { Entry } from "./api";
import { join, nameOf, parentOf } from "./paths";

/** Whether an entry is an archive, which a click enters. */
export const isArchive = (entry: Entry): boolean => entry.enter?.endsWith(".d") ?? false;

/** Returns the entries of a folder without the folders that show what is in another entry. */
export function withoutInsides(entries: readonly Entry[]): Entry[] {
    const insides = new Set(entries.map((entry) => entry.enter));
    return entries.filter((entry) => entry.kind !== "directory" || !insides.has(entry.name));
}

/** Returns where a click on an entry leads. */
export function destination(folder: string, entry: Entry): string {
    if (entry.target) {
        return entry.target;
    }
    return join(folder, isArchive(entry) && entry.enter !== null ? entry.enter : entry.name);
}

const lastOpened = new Map<string, string>();

/** Remembers a place, so that its folder shows it when one comes back. */
export function remember(path: string): void {
    lastOpened.set(parentOf(path), nameOf(path));
}

/** Returns the position of the entry that was opened last, or 0. */
export function lastPosition(folder: string, entries: readonly Entry[]): number {
    const name = lastOpened.get(folder);
    return Math.max(
        0,
        entries.findIndex((entry) => entry.name === name || (name !== undefined && entry.enter === name)),
    );
}
