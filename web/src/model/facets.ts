/** What can be shown of a file: itself, and the files that show what is in it. */

import type { Entry, View } from "./api";
import { extensionOf, join, nameOf, parentOf } from "./paths";

export interface Facet {
    view: View;
    path: string;
    label: string;
    size: number | null;
}

const EXTENSIONS: Partial<Record<View, readonly string[]>> = {
    model: ["glb"],
    picture: ["png", "apng", "jpg", "jpeg", "gif", "bmp", "webp"],
    sound: ["wav", "mp3", "ogg", "flac"],
    table: ["tsv"],
    text: ["txt", "obj", "mtl", "bos", "tdf", "bvh"],
    json: ["json"],
};

/** Names of files that show all of an asset, among others that show its parts. */
const WHOLE = ["map.png", "model.glb", "level.glb"];

/** The order of the tabs. */
export const VIEWS: readonly View[] = ["model", "picture", "sound", "text", "table", "json", "hex"];

/** Returns how browsers can show a file of this name, or null. */
export function viewOf(name: string): View | null {
    const extension = extensionOf(name);
    return VIEWS.find((view) => EXTENSIONS[view]?.includes(extension)) ?? null;
}

/**
 * Returns what can be shown of a file. `inside` are the entries of the folder that
 * shows what is in it; without that, the converted files are taken.
 */
export function facetsOf(path: string, entry: Entry, inside: readonly Entry[] | null): Facet[] {
    const facets: Facet[] = [];
    const own = entry.view;
    if (own === "text" || (own !== null && viewOf(path) === own)) {
        facets.push({ view: own, path, label: entry.name, size: entry.size });
    }
    const shown = inside
        ? inside
              .filter((file) => file.kind === "file")
              .map((file) => ({ path: join(`${join(parentOf(path), entry.enter ?? "")}`, file.name), size: file.size }))
        : entry.converted.map((path) => ({ path, size: null }));
    for (const { path, size } of shown) {
        const view = viewOf(path);
        if (view !== null) {
            facets.push({ view, path, label: nameOf(path), size });
        }
    }
    facets.push({ view: "hex", path, label: entry.name, size: entry.size });
    return withoutPreviews(facets);
}

/** Previews are pictures of models and sprites, which are shown themselves. */
function withoutPreviews(facets: Facet[]): Facet[] {
    const isPreview = (facet: Facet) => facet.label === "preview.png";
    const hasOthers = facets.some((facet) => (facet.view === "model" || facet.view === "picture") && !isPreview(facet));
    return hasOthers ? facets.filter((facet) => !isPreview(facet)) : facets;
}

/** Returns the facet to show: the one that was asked for, or the best one. */
export function chooseFacet(
    facets: readonly Facet[],
    path: string,
    entry: Entry,
    view?: string,
    label?: string,
): Facet | undefined {
    const wanted = [view, entry.view, ...VIEWS].find((view) => facets.some((facet) => facet.view === view));
    const ofView = facets.filter((facet) => facet.view === wanted);
    return (
        ofView.find((facet) => facet.label === label) ??
        ofView.find((facet) => facet.path === path || WHOLE.includes(facet.label)) ??
        ofView[0]
    );
}
