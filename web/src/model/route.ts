/** The place that the address bar names: "#/PATH?key=value&...". */

import { decodePath, encodePath } from "./paths";

export type Params = Readonly<Record<string, string>>;

export interface Route {
    readonly path: string;
    readonly params: Params;
}

export function parseRoute(hash: string): Route {
    const text = hash.replace(/^#?\/?/, "");
    const [path = "", ...query] = text.split("?");
    const params = Object.fromEntries(new URLSearchParams(query.join("?")));
    return { path: decodePath(path), params };
}

/** Returns a link to a path; parameters that are empty are left out. */
export function linkTo(path: string, params: Readonly<Record<string, string | undefined>> = {}): string {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(params)) {
        if (value) {
            query.set(key, value);
        }
    }
    const text = query.toString();
    return `#/${encodePath(path)}${text && `?${text}`}`;
}
