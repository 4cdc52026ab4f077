/** A folder: its entries, sorted and filtered. */

import { useMemo, useRef, useState } from "preact/hooks";
import type { Entry } from "../model/api";
import { formatCount } from "../model/format";
import { setParams, useFolder, useKeys, useSetting } from "../model/hooks";
import { formatOrder, type Key, KEYS, parseOrder, sortEntries } from "../model/order";
import { withoutInsides } from "../model/places";
import type { Params } from "../model/route";
import { Failure, FilterField, Waiting } from "./controls";
import { Entries, type Layout } from "./entries";
import { IconButton } from "./icons";

interface FolderProps {
    path: string;
    params: Params;
    onMove: (entry: Entry) => void;
}

export function Folder({ path, params, onMove }: FolderProps) {
    const { value: folder, error } = useFolder(path);
    const [filter, setFilter] = useState("");
    const [chosen, setChosen] = useSetting<Layout | "">("layout", "");
    const element = useRef<HTMLDivElement>(null);
    const order = parseOrder<Key>(params["sort"], KEYS) ?? { key: "name", falls: false };

    const all = useMemo(() => withoutInsides(folder?.entries ?? []), [folder]);
    const entries = useMemo(() => {
        const wanted = filter.toLowerCase();
        return sortEntries(
            all.filter((entry) => entry.name.toLowerCase().includes(wanted)),
            order,
        );
    }, [all, filter, order.key, order.falls]);
    const layout = chosen || (hasPictures(all) ? "grid" : "list");

    const focusEntry = () => element.current?.querySelector<HTMLElement>(".entry-link[tabindex='0']")?.focus();
    useKeys({
        f: () => element.current?.querySelector<HTMLInputElement>(".toolbar input")?.focus(),
        ArrowDown: focusEntry,
        ArrowUp: focusEntry,
        ArrowLeft: focusEntry,
        ArrowRight: focusEntry,
    });

    if (!folder) {
        return error ? <Failure error={error} /> : <Waiting />;
    }
    const setOrder = (next: typeof order) => setParams({ sort: formatOrder(next) });
    return (
        <div class="folder" ref={element}>
            <div class="toolbar">
                <FilterField label="Filter" value={filter} onInput={setFilter} />
                <span class="count" role="status">
                    {describe(entries.length, folder.isComplete ? all.length : folder.total, folder.isComplete)}
                </span>
                <select
                    class="only-grid"
                    aria-label="Sort by"
                    value={formatOrder(order)}
                    onChange={(event) => setParams({ sort: event.currentTarget.value })}
                >
                    <option value="name">Name</option>
                    <option value="-name">Name, last first</option>
                    <option value="type">Type</option>
                    <option value="-size">Largest first</option>
                    <option value="size">Smallest first</option>
                    <option value="-modified">Newest first</option>
                    <option value="modified">Oldest first</option>
                </select>
                <span class="group">
                    <IconButton
                        icon="grid"
                        label="Pictures"
                        pressed={layout === "grid"}
                        onClick={() => setChosen("grid")}
                    />
                    <IconButton
                        icon="list"
                        label="List"
                        pressed={layout === "list"}
                        onClick={() => setChosen("list")}
                    />
                </span>
            </div>
            {error && <Failure error={error} />}
            {entries.length === 0 ? (
                <p class="empty">{all.length === 0 ? "This folder is empty." : "No name contains this."}</p>
            ) : (
                <Entries
                    path={path}
                    entries={entries}
                    layout={layout}
                    order={order}
                    onOrder={setOrder}
                    onMove={onMove}
                />
            )}
        </div>
    );
}

/** Whether enough of a folder can be seen that it is shown as pictures. */
function hasPictures(entries: readonly Entry[]): boolean {
    const first = entries.slice(0, 200);
    return first.filter((entry) => entry.thumb).length * 3 >= first.length && first.length > 0;
}

function describe(shown: number, total: number, isComplete: boolean): string {
    const all = formatCount(total, "entry", "entries");
    if (!isComplete) {
        return `${all}, loading`;
    }
    return shown === total ? all : `${shown.toLocaleString("en")} of ${all}`;
}
