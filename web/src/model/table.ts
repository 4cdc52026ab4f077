/** Tables of the converted files: a line is a row, a tab ends a cell. */

import { compareCells, type Order } from "./order";

export interface Row {
    /** The number of the row in the file, from 1. */
    number: number;
    cells: readonly string[];
}

export interface Table {
    columns: readonly string[];
    rows: readonly Row[];
}

export function parseTable(text: string): Table {
    const lines = text.split("\n");
    if (lines.at(-1) === "") {
        lines.pop();
    }
    const [header = "", ...rest] = lines;
    return {
        columns: header.split("\t"),
        rows: rest.map((line, at) => ({ number: at + 1, cells: line.replace(/\r$/, "").split("\t") })),
    };
}

/** Returns the rows that contain a text, in the order of a column. */
export function arrange(table: Table, filter: string, order: Order | null): readonly Row[] {
    const wanted = filter.toLowerCase();
    const rows = table.rows.filter(
        (row) => wanted === "" || row.cells.some((cell) => cell.toLowerCase().includes(wanted)),
    );
    const column = order === null ? -1 : table.columns.indexOf(order.key);
    if (order === null || column < 0) {
        return rows;
    }
    const sign = order.falls ? -1 : 1;
    return rows.sort(
        (a, b) => sign * compareCells(a.cells[column] ?? "", b.cells[column] ?? "") || a.number - b.number,
    );
}

/** Widths of columns, in digits, are taken from these rows; capitals are wider. */
const SAMPLE = 500;
const NARROWEST = 4;
const WIDEST = 44;

export function columnWidths(table: Table): number[] {
    const sample = table.rows.slice(0, SAMPLE);
    return table.columns.map((title, column) => {
        const lengths = sample.map((row) => row.cells[column]?.length ?? 0);
        return Math.min(Math.ceil(Math.max(NARROWEST, title.length + 2, ...lengths) * 1.15), WIDEST);
    });
}

/** Whether a column has numbers, which are aligned at their ends. */
export function isNumeric(table: Table, column: number): boolean {
    const cells = table.rows.slice(0, SAMPLE).flatMap((row) => row.cells[column] || []);
    return cells.length > 0 && cells.every((cell) => /^-?\d+(\.\d+)?$/.test(cell));
}
