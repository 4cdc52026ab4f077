/** Texts as lines, and what is found in them. */

/** Texts of the time are in the character set of Windows, later ones in UTF-8. */
export function decodeText(bytes: ArrayBuffer): string {
    let text: string;
    try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
        text = new TextDecoder("windows-1252").decode(bytes);
    }
    return text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}

/** Returns where lines begin. */
export function lineStarts(text: string): number[] {
    const starts = [0];
    for (let at = text.indexOf("\n"); at >= 0 && at + 1 < text.length; at = text.indexOf("\n", at + 1)) {
        starts.push(at + 1);
    }
    return starts;
}

const MAX_FOUND = 10_000;

/** Returns where a text is, without regard to case. */
export function findAll(text: string, wanted: string): number[] {
    const found: number[] = [];
    const [lower, part] = [text.toLowerCase(), wanted.toLowerCase()];
    // Some letters have another length in lower case.
    const [where, what] = lower.length === text.length ? [lower, part] : [text, wanted];
    for (
        let at = what === "" ? -1 : where.indexOf(what);
        at >= 0 && found.length < MAX_FOUND;
        at = where.indexOf(what, at + what.length)
    ) {
        found.push(at);
    }
    return found;
}
