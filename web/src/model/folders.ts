/**
 * The folders that were opened. A page arrives at once, the others behind it, and
 * the list grows once, when all are there, so that it is sorted twice and no more.
 */

import { type Entry, list, listAll } from "./api";
import { isArchiveRoot, nameOf, parentOf } from "./paths";

export interface Folder {
    readonly entries: readonly Entry[];
    readonly total: number;
    readonly isComplete: boolean;
}

/** The largest page that the server gives. */
const PAGE = 5000;
const KEPT = 64;

/** How long a folder is shown as it was, before it is also asked for again. */
const FRESH_MS = 20_000;

type Listener = (folder: Folder) => void;

class Opened {
    folder: Folder | null = null;
    private readonly listeners = new Set<Listener>();
    private asked = 0;
    private first: Promise<void> = Promise.resolve();
    private rest: Promise<void> = Promise.resolve();

    constructor(private readonly path: string) {}

    /** Asks for the folder, unless that was done a moment ago; fails if it cannot be listed. */
    load(): Promise<void> {
        if (Date.now() - this.asked > FRESH_MS) {
            this.asked = Date.now();
            const pages = this.pages();
            this.first = pages.next().then(() => undefined);
            this.rest = this.first.then(async () => {
                for await (const _ of pages);
            });
            this.rest.catch(() => {
                this.asked = 0;
            });
        }
        return this.first;
    }

    listen(listener: Listener): () => void {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    async find(name: string): Promise<Entry | null> {
        await this.load();
        const found = findName(this.folder?.entries ?? [], name);
        if (found !== null || this.folder?.isComplete) {
            return found;
        }
        await this.rest;
        return findName(this.folder?.entries ?? [], name);
    }

    private async *pages() {
        let page = await list(this.path, null, PAGE);
        const entries = [...page.entries, ...(await hiddenEntries(this.path, page.entries))];
        const wasLonger = (this.folder?.entries.length ?? 0) > entries.length;
        if (page.next === null || !wasLonger) {
            this.publish([...entries], page.total, page.next === null);
        }
        yield;
        while (page.next !== null) {
            page = await list(this.path, page.next, PAGE);
            entries.push(...page.entries);
            yield;
        }
        if (entries.length !== this.folder?.entries.length || !this.folder.isComplete) {
            this.publish(entries, entries.length, true);
        }
    }

    private publish(entries: Entry[], total: number, isComplete: boolean) {
        this.folder = { entries, total: Math.max(total, entries.length), isComplete };
        for (const listener of this.listeners) {
            listener(this.folder);
        }
    }
}

/** Mounts do not list the converted files of some archives; the explorer does. */
async function hiddenEntries(path: string, listed: readonly Entry[]): Promise<Entry[]> {
    if (!isArchiveRoot(path) || listed.some((entry) => entry.name === "converted")) {
        return [];
    }
    const all = await listAll(path);
    return all.entries.filter((entry) => entry.name === "converted");
}

/** Finds a name as it is spelled, or else without regard to case, as lookups do. */
function findName(entries: readonly Entry[], name: string): Entry | null {
    const folded = name.toLowerCase();
    return (
        entries.find((entry) => entry.name === name) ??
        entries.find((entry) => entry.name.toLowerCase() === folded) ??
        null
    );
}

/** Whether a path leads to something, without asking for folders that do not exist. */
export async function leads(path: string): Promise<boolean> {
    if (path === "") {
        return true;
    }
    const parent = parentOf(path);
    if (!(await leads(parent))) {
        return false;
    }
    const above = open(parent);
    const entry = await above.find(nameOf(path)).catch(() => null);
    return entry !== null || (above.folder?.entries.some((entry) => entry.enter === nameOf(path)) ?? false);
}

const opened = new Map<string, Opened>();

/** Returns a folder, and keeps the ones that were used last. */
export function open(path: string): Opened {
    const folder = opened.get(path) ?? new Opened(path);
    opened.delete(path);
    opened.set(path, folder);
    const [oldest] = opened.keys();
    if (opened.size > KEPT && oldest !== undefined) {
        opened.delete(oldest);
    }
    return folder;
}

/** What a path leads to: a folder, a file, or another path by a link. */
export type Place =
    { kind: "folder"; entry: Entry | null } | { kind: "file"; entry: Entry } | { kind: "elsewhere"; path: string };

/** Returns what a path leads to; fails if there is nothing. */
export async function locate(path: string): Promise<Place> {
    if (path === "") {
        return { kind: "folder", entry: null };
    }
    const name = nameOf(path);
    const entry = await open(parentOf(path))
        .find(name)
        .catch(() => null);
    return entry ? placeOf(entry) : locateHidden(path, name);
}

function placeOf(entry: Entry): Place {
    if (entry.target) {
        return { kind: "elsewhere", path: entry.target };
    }
    const isFolder = entry.kind === "directory" || (entry.kind === "link" && entry.view === null);
    return { kind: isFolder ? "folder" : "file", entry };
}

/** Locates what can be opened and is not listed. */
async function locateHidden(path: string, name: string): Promise<Place> {
    try {
        await open(path).load();
        return { kind: "folder", entry: null };
    } catch (error) {
        const page = await listAll(parentOf(path)).catch(() => null);
        const entry = findName(page?.entries ?? [], name);
        if (entry === null) {
            throw error;
        }
        return placeOf(entry);
    }
}
