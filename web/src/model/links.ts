/** Which cells of a table lead to files: those with their paths or their ids. */

import { leads } from "./folders";
import { ancestors, join, parentOf } from "./paths";
import type { Table } from "./table";

/** Returns where a cell leads, or null. */
export type Linker = (cell: string) => string | null;

const ID = /^[0-9A-F]{8}$/;
const PATH = /^[^/\\:*?"<>|]+(\/[^/\\:*?"<>|]+)*\.[A-Za-z0-9]{1,5}$/;

/** A column is a column of links if one of so many cells leads to a file. */
const TRIED = 3;

/** Returns for each column of a table what makes links of its cells, or null. */
export async function linkers(path: string, table: Table): Promise<(Linker | null)[]> {
    const roots = ancestors(parentOf(path)).reverse();
    return Promise.all(table.columns.map((_, column) => linkerOf(sample(table, column), roots)));
}

function sample(table: Table, column: number): string[] {
    const cells = new Set<string>();
    for (const row of table.rows) {
        const cell = row.cells[column];
        if (cell && (ID.test(cell) || PATH.test(cell))) {
            cells.add(cell);
        }
        if (cells.size === TRIED) {
            break;
        }
    }
    return [...cells];
}

async function linkerOf(cells: readonly string[], roots: readonly string[]): Promise<Linker | null> {
    for (const cell of cells) {
        const isId = ID.test(cell);
        for (const root of roots) {
            const folder = isId ? join(root, "ids") : root;
            if (await leads(join(folder, cell))) {
                const pattern = isId ? ID : PATH;
                return (cell) => (pattern.test(cell) ? join(folder, cell) : null);
            }
        }
    }
    return null;
}
