/** The order of entries, rows and names. */

import type { Entry } from "./api";

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export const compareTexts = (a: string, b: string): number => collator.compare(a, b);

export type Key = "name" | "type" | "size" | "modified";

/** A column and a direction, as in "size" and "-size". */
export interface Order<K extends string = string> {
    key: K;
    falls: boolean;
}

export function parseOrder<K extends string>(text: string | undefined, keys: readonly K[]): Order<K> | null {
    const falls = text?.startsWith("-") ?? false;
    const key = keys.find((key) => key === (falls ? text?.slice(1) : text));
    return key === undefined ? null : { key, falls };
}

export const formatOrder = (order: Order): string => (order.falls ? "-" : "") + order.key;

/** Returns the order after a click on a column: first it rises, then it falls. */
export const nextOrder = <K extends string>(order: Order<K> | null, key: K): Order<K> => ({
    key,
    falls: order?.key === key && !order.falls,
});

export const KEYS: readonly Key[] = ["name", "type", "size", "modified"];

/** Folders come first in every order, and entries that are equal by their names. */
export function sortEntries(entries: readonly Entry[], order: Order<Key>): Entry[] {
    const sign = order.falls ? -1 : 1;
    const compare = {
        name: () => 0,
        type: (a: Entry, b: Entry) => compareTexts(a.type ?? "", b.type ?? ""),
        size: (a: Entry, b: Entry) => (a.size ?? -1) - (b.size ?? -1),
        modified: (a: Entry, b: Entry) => (a.modified ?? 0) - (b.modified ?? 0),
    }[order.key];
    return [...entries].sort(
        (a, b) =>
            Number(b.kind === "directory") - Number(a.kind === "directory") ||
            sign * (compare(a, b) || compareTexts(a.name, b.name)),
    );
}

/** Compares cells of a column: numbers by their values, and before texts. */
export function compareCells(a: string, b: string): number {
    const numbers = [Number(a), Number(b)] as const;
    const are = [a !== "" && !Number.isNaN(numbers[0]), b !== "" && !Number.isNaN(numbers[1])];
    if (are[0] && are[1]) {
        return numbers[0] - numbers[1];
    }
    return Number(are[1]) - Number(are[0]) || compareTexts(a, b);
}
