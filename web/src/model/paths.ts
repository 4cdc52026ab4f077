/** Paths of the tree: names with "/" between them; the root is "". */

export function join(folder: string, name: string): string {
    return folder === "" ? name : `${folder}/${name}`;
}

export function parentOf(path: string): string {
    return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
    return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the extension in lower case and without the dot, or "". */
export function extensionOf(path: string): string {
    const name = nameOf(path);
    const dot = name.lastIndexOf(".");
    return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/** Returns the folders on the way to a path, from the root to the path itself. */
export function ancestors(path: string): string[] {
    const names = path === "" ? [] : path.split("/");
    return ["", ...names.map((_, at) => names.slice(0, at + 1).join("/"))];
}

/** Whether the names in a folder are those of an archive: the root, or an entered one. */
export function isArchiveRoot(path: string): boolean {
    return path === "" || path.endsWith(".d");
}

export function encodePath(path: string): string {
    return path.split("/").map(encodeURIComponent).join("/");
}

export function decodePath(encoded: string): string {
    return encoded.split("/").map(decode).filter(Boolean).join("/");
}

/** Decodes what a person may have typed: "%" that encodes nothing stays. */
function decode(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}
