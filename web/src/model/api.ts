/** The routes of the server, and the shapes of their answers. */

import { encodePath } from "./paths";

export type View = "picture" | "model" | "sound" | "table" | "json" | "text" | "hex";

export interface Entry {
    name: string;
    kind: "file" | "directory" | "link";
    type: string | null;
    /** Of a generated file that was not rendered yet: null. */
    size: number | null;
    modified: number | null;
    etag: string | null;
    view: View | null;
    thumb: boolean;
    /** The name of the folder beside it that shows what is inside. */
    enter: string | null;
    converted: string[];
    /** Where a link leads, as a path of the tree. */
    target?: string | null;
}

export interface Page {
    path: string;
    entries: Entry[];
    next: string | null;
    total: number;
}

export interface IndexState {
    names: string;
    texts: string;
    done: number;
    of: number;
}

export interface Found {
    path: string;
    kind: Entry["kind"];
    size: number | null;
    view: View | null;
    in: "name" | "text";
    snippet?: string | null;
}

export interface SearchPage {
    entries: Found[];
    next: string | null;
    state: IndexState;
}

export interface Step {
    source?: string;
    path?: string;
    format: string;
}

export interface Where {
    path: string;
    chain: Step[];
    shadows: { source: string; path: string }[];
    attributes: Record<string, string>;
    meta: string | null;
    raw_name: string | null;
}

export interface State {
    version: string;
    index?: IndexState | null;
    errors: number;
    messages?: string[];
}

/** A line of the answer of `diff`; its shape depends on the type. */
export type DiffLine = { type: string } & Record<string, unknown>;

/** An answer that says why there is nothing. */
export class Refused extends Error {
    constructor(
        message: string,
        readonly status: number,
    ) {
        super(message);
    }
}

export const files = (path: string): string => `files/${encodePath(path)}`;
export const download = (path: string): string => `${files(path)}?download`;
export const zip = (path: string): string => `zip/${encodePath(path)}`;
export const thumb = (path: string, size: number, etag: string | null): string =>
    `thumb/${encodePath(path)}?size=${size}${etag ? `&v=${encodeURIComponent(etag)}` : ""}`;

/** Fetches a URL; fails with the message of the server. */
export async function request(url: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(url, init);
    if (!response.ok) {
        throw new Refused(await reason(response), response.status);
    }
    return response;
}

/** Longer files are not taken to pieces in a browser. */
const MAX_PARSED = 64 << 20;

/** Fetches a text that is shown as a whole, such as a table. */
export async function readText(path: string, signal?: AbortSignal): Promise<string> {
    const response = await request(files(path), signal ? { signal } : {});
    if (Number(response.headers.get("Content-Length")) > MAX_PARSED) {
        await response.body?.cancel();
        throw new Error(`${path} is too large to be shown here, but it can be downloaded`);
    }
    return response.text();
}

async function reason(response: Response): Promise<string> {
    const text = await response.text();
    try {
        const { error } = JSON.parse(text) as { error?: string };
        return error ?? text;
    } catch {
        return text || `${response.status} ${response.statusText}`;
    }
}

async function ask<T>(route: string, parameters: Record<string, string>, signal?: AbortSignal): Promise<T> {
    const query = new URLSearchParams(parameters).toString();
    const response = await request(`api/${route}${query && `?${query}`}`, signal ? { signal } : {});
    return (await response.json()) as T;
}

export const list = (path: string, after: string | null, limit: number, signal?: AbortSignal): Promise<Page> =>
    ask("list", { path, limit: String(limit), ...(after ? { after } : {}) }, signal);

/** Returns all entries of a folder, also those that a mount does not list. */
export const listAll = (path: string): Promise<Page> => ask("list", { path, limit: "5000", all: "1" });

export const search = (q: string, path: string, after: string | null, signal?: AbortSignal): Promise<SearchPage> =>
    ask("search", { q, path, in: "name,text", ...(after ? { after } : {}) }, signal);

export const where = (path: string, signal?: AbortSignal): Promise<Where> => ask("where", { path }, signal);

export const state = (): Promise<State> => ask("state", {});

export async function diff(a: string, b: string): Promise<DiffLine[]> {
    const query = new URLSearchParams({ a, b }).toString();
    const text = await (await request(`api/diff?${query}`)).text();
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    return lines.map((line) => JSON.parse(line) as DiffLine);
}
