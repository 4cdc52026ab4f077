/** References between files, by the rows of a table. */

import type { Linker } from "./links";
import type { Row, Table } from "./table";

export interface Reference {
    name: string;
    kind: string;
    path: string | null;
    row: number;
}

/** The columns of one side of a reference. */
interface Side {
    /** The file, by its id or its path. */
    file: number;
    name: number;
}

/**
 * Returns what a file uses, and what uses it. Tables have the ids of both sides in
 * `id` and `target`, or their paths in `from` and `path`.
 */
export function findReferences(
    table: Table,
    links: readonly (Linker | null)[],
    path: string,
    id: string | undefined,
): { uses: Reference[]; usedBy: Reference[] } {
    const column = (name: string) => table.columns.indexOf(name);
    const hasIds = column("target") >= 0;
    const source: Side = hasIds
        ? { file: column("id"), name: column("name") }
        : { file: column("from"), name: column("from") };
    const target: Side = hasIds
        ? { file: column("target"), name: column("target_name") }
        : { file: column("path"), name: column("name") };
    const kind = column("field") >= 0 ? column("field") : column("kind");
    const state = column("state");

    const cell = (row: Row, at: number) => row.cells[at] ?? "";
    const link = (row: Row, side: Side) => links[side.file]?.(cell(row, side.file)) ?? null;
    const isThis = (row: Row, side: Side) =>
        hasIds
            ? id !== undefined && cell(row, side.file) === id
            : link(row, side)?.toLowerCase() === path.toLowerCase();
    const reference = (row: Row, side: Side): Reference => {
        const isMissing = side === target && cell(row, state) === "missing";
        return {
            name: cell(row, side.name) || cell(row, side.file),
            kind: isMissing ? "missing" : cell(row, kind),
            path: isMissing ? null : link(row, side),
            row: row.number,
        };
    };
    const uses = table.rows.filter((row) => isThis(row, source));
    const usedBy = table.rows.filter((row) => isThis(row, target) && !isThis(row, source));
    return {
        uses: uses.map((row) => reference(row, target)),
        usedBy: usedBy.map((row) => reference(row, source)),
    };
}
