/** The entries of a folder, as pictures or as lines. */

import { useRef, useState } from "preact/hooks";
import type { Entry } from "../model/api";
import { formatSize, formatTime } from "../model/format";
import { useFocused, usesKeyboard } from "../model/hooks";
import { type Key, KEYS, nextOrder, type Order } from "../model/order";
import { join } from "../model/paths";
import { destination, lastPosition } from "../model/places";
import { linkTo } from "../model/route";
import { SortMark } from "./controls";
import { EntryIcon, iconOf } from "./icons";
import { Scroller } from "./scroller";
import { Thumb } from "./thumb";

export type Layout = "grid" | "list";

const CELL = { width: 148, height: 160 };
const LINE = 36;

interface EntriesProps {
    path: string;
    entries: readonly Entry[];
    layout: Layout;
    order: Order<Key>;
    onOrder: (order: Order<Key>) => void;
    /** Called with the entry that the keyboard has moved to. */
    onMove: (entry: Entry) => void;
}

export function Entries({ path, entries, layout, order, onOrder, onMove }: EntriesProps) {
    const [width, setWidth] = useState(0);
    const [active, setActive] = useState(() => lastPosition(path, entries));
    // The keyboard stays in the middle from folder to folder.
    const moves = useRef(usesKeyboard() && document.activeElement === document.body);
    const columns = layout === "grid" ? Math.max(1, Math.floor(width / CELL.width)) : 1;
    const rows = Math.ceil(entries.length / columns);
    const headers = layout === "list" ? 1 : 0;
    const current = Math.min(active, entries.length - 1);

    const move = (to: number) => {
        const next = Math.min(Math.max(to, 0), entries.length - 1);
        const entry = entries[next];
        moves.current = true;
        setActive(next);
        if (entry) {
            onMove(entry);
        }
    };
    const press = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.altKey || event.metaKey) {
            return;
        }
        const steps: Record<string, number> = {
            ArrowRight: current + 1,
            ArrowLeft: current - 1,
            ArrowDown: current + columns,
            ArrowUp: current - columns,
            PageDown: current + 5 * columns,
            PageUp: current - 5 * columns,
            Home: 0,
            End: entries.length - 1,
        };
        const to = steps[event.key];
        if (to !== undefined) {
            event.preventDefault();
            move(to);
        } else if (event.key === " " && event.target instanceof HTMLAnchorElement) {
            event.preventDefault();
            event.target.click();
        }
    };
    const cell = (at: number) => {
        const entry = entries[at];
        return (
            entry && (
                <Cell
                    key={entry.name}
                    path={path}
                    entry={entry}
                    layout={layout}
                    isActive={at === current}
                    hasFocus={at === current && moves.current}
                    onFocus={() => setActive(at)}
                />
            )
        );
    };
    return (
        <div
            class={`entries entries-${layout}`}
            role="grid"
            aria-label="Files"
            aria-rowcount={rows + headers}
            onKeyDown={press}
        >
            <Header layout={layout} order={order} onOrder={onOrder} />
            <Scroller
                class="entries-rows"
                role="rowgroup"
                count={rows}
                rowHeight={layout === "grid" ? CELL.height : LINE}
                reveal={columns > 0 ? Math.floor(current / columns) : undefined}
                onWidth={setWidth}
            >
                {(row) => (
                    <div key={row} class="entries-row" role="row" aria-rowindex={row + headers + 1}>
                        {Array.from({ length: columns }, (_, column) => cell(row * columns + column))}
                    </div>
                )}
            </Scroller>
        </div>
    );
}

const TITLES: Record<Key, string> = { name: "Name", type: "Type", size: "Size", modified: "Changed" };

function Header({ layout, order, onOrder }: Pick<EntriesProps, "layout" | "order" | "onOrder">) {
    if (layout === "grid") {
        return null;
    }
    return (
        <div class="entries-row entries-header" role="row" aria-rowindex={1}>
            {KEYS.map((key) => (
                <div
                    key={key}
                    role="columnheader"
                    class={`column-${key}`}
                    aria-sort={order.key !== key ? "none" : order.falls ? "descending" : "ascending"}
                >
                    <button type="button" onClick={() => onOrder(nextOrder(order, key))}>
                        {TITLES[key]}
                        <SortMark order={order} column={key} />
                    </button>
                </div>
            ))}
        </div>
    );
}

interface CellProps {
    path: string;
    entry: Entry;
    layout: Layout;
    isActive: boolean;
    hasFocus: boolean;
    onFocus: () => void;
}

function Cell({ path, entry, layout, isActive, hasFocus, onFocus }: CellProps) {
    const link = useFocused(hasFocus);
    const anchor = (
        <a
            ref={link}
            class="entry-link"
            href={linkTo(destination(path, entry))}
            tabIndex={isActive ? 0 : -1}
            title={entry.name}
            onFocus={onFocus}
        >
            {entry.name}
        </a>
    );
    if (layout === "grid") {
        return (
            <div role="gridcell" class="cell">
                <div class={`cell-picture kind-${iconOf(entry)}`}>
                    <Thumb path={join(path, entry.name)} entry={entry} />
                </div>
                {anchor}
            </div>
        );
    }
    return (
        <>
            <div role="gridcell" class={`column-name kind-${iconOf(entry)}`}>
                <EntryIcon entry={entry} />
                {anchor}
            </div>
            <div role="gridcell" class="column-type">
                {entry.kind === "directory" ? "" : entry.type}
            </div>
            <div role="gridcell" class="column-size">
                {entry.kind === "directory" ? "" : formatSize(entry.size)}
            </div>
            <div role="gridcell" class="column-modified">
                {formatTime(entry.modified)}
            </div>
        </>
    );
}
