/** Tables that are sorted and filtered, with cells that lead to files. */

import { useMemo, useRef, useState } from "preact/hooks";
import { readText } from "../model/api";
import { formatCount } from "../model/format";
import { setParams, useKeys, useLoaded, useSize } from "../model/hooks";
import { type Linker, linkers } from "../model/links";
import { formatOrder, nextOrder, type Order, parseOrder } from "../model/order";
import { linkTo } from "../model/route";
import { rowsInView } from "../model/rows";
import { arrange, columnWidths, isNumeric, parseTable, type Row, type Table } from "../model/table";
import { Failure, FilterField, SortMark, Waiting } from "../parts/controls";
import type { ViewerProps } from "./viewer";

const ROW = 28;

export function TableViewer({ facet, params }: ViewerProps) {
    const { value: table, error } = useLoaded(facet.path, async (signal) =>
        parseTable(await readText(facet.path, signal)),
    );
    const { value: links } = useLoaded(table && `links of ${facet.path}`, async () =>
        table ? linkers(facet.path, table) : [],
    );
    const [filter, setFilter] = useState("");
    const element = useRef<HTMLDivElement>(null);
    const order = parseOrder(params["sort"], table?.columns ?? []);
    const rows = useMemo(() => (table ? arrange(table, filter, order) : []), [table, filter, params["sort"]]);
    useKeys({ f: () => element.current?.querySelector("input")?.focus() });
    if (!table) {
        return error ? <Failure error={error} /> : <Waiting />;
    }
    return (
        <div class="viewer" ref={element}>
            <div class="viewer-bar">
                <FilterField label="Filter rows" value={filter} onInput={setFilter} />
                <span class="facts" role="status">
                    {rows.length === table.rows.length ? "" : `${rows.length.toLocaleString("en")} of `}
                    {formatCount(table.rows.length, "row")}
                </span>
            </div>
            <Body
                key={facet.path}
                label={facet.label}
                table={table}
                rows={rows}
                links={links ?? []}
                order={order}
                marked={Number(params["row"] ?? 0)}
            />
        </div>
    );
}

interface BodyProps {
    label: string;
    table: Table;
    rows: readonly Row[];
    links: readonly (Linker | null)[];
    order: Order | null;
    marked: number;
}

function Body({ label, table, rows, links, order, marked }: BodyProps) {
    const [element, { height }] = useSize<HTMLDivElement>();
    const [top, setTop] = useState(() => 0);
    const scrolledTo = useRef(0);
    const widths = useMemo(() => columnWidths(table), [table]);
    const numeric = useMemo(() => table.columns.map((_, column) => isNumeric(table, column)), [table]);
    const numberWidth = String(table.rows.length).length;
    const shown = rowsInView(rows.length, ROW, height, top);

    // A row that a link names comes into view once.
    if (marked !== scrolledTo.current && height > 0 && element.current) {
        scrolledTo.current = marked;
        const at = rows.findIndex((row) => row.number === marked);
        element.current.scrollTop = Math.max(0, at * ROW - height / 2);
    }
    const below = shown.height - shown.top - (shown.end - shown.first) * ROW;
    return (
        <div
            class="table"
            ref={element}
            tabIndex={0}
            role="region"
            aria-label={label}
            onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        >
            <table
                aria-label={label}
                aria-rowcount={rows.length + 1}
                style={{
                    width: `calc(${widths.reduce((sum, width) => sum + width, numberWidth)}ch + ${(widths.length + 1) * 20}px)`,
                }}
            >
                <colgroup>
                    <col style={{ width: `calc(${numberWidth}ch + 20px)` }} />
                    {widths.map((width, column) => (
                        <col key={column} style={{ width: `calc(${width}ch + 20px)` }} />
                    ))}
                </colgroup>
                <thead>
                    <tr aria-rowindex={1}>
                        <th scope="col" class="row-number">
                            <span class="hidden">Row</span>
                        </th>
                        {table.columns.map((title, column) => (
                            <th
                                key={column}
                                scope="col"
                                class={numeric[column] ? "number" : ""}
                                aria-sort={order?.key !== title ? "none" : order.falls ? "descending" : "ascending"}
                            >
                                <button
                                    type="button"
                                    title={title}
                                    onClick={() => setParams({ sort: formatOrder(nextOrder(order, title)) })}
                                >
                                    {title}
                                    <SortMark order={order} column={title} />
                                </button>
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {shown.top > 0 && <tr aria-hidden="true" class="gap" style={{ height: `${shown.top}px` }} />}
                    {rows.slice(shown.first, shown.end).map((row, at) => (
                        <tr
                            key={row.number}
                            aria-rowindex={shown.first + at + 2}
                            class={row.number === marked ? "marked" : ""}
                        >
                            <th scope="row" class="row-number">
                                <button
                                    type="button"
                                    aria-label={`Mark row ${row.number}`}
                                    onClick={() => setParams({ row: String(row.number) })}
                                >
                                    {row.number}
                                </button>
                            </th>
                            {table.columns.map((_, column) => (
                                <td key={column} class={numeric[column] ? "number" : ""} title={row.cells[column]}>
                                    <Cell text={row.cells[column] ?? ""} link={links[column] ?? null} />
                                </td>
                            ))}
                        </tr>
                    ))}
                    {below > 0 && <tr aria-hidden="true" class="gap" style={{ height: `${below}px` }} />}
                </tbody>
            </table>
        </div>
    );
}

function Cell({ text, link }: { text: string; link: Linker | null }) {
    const path = link?.(text) ?? null;
    return path === null ? text : <a href={linkTo(path)}>{text}</a>;
}
