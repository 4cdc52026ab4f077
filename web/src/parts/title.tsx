/** The name of an open file, and the ways to the files beside it. */

import type { Entry } from "../model/api";
import { formatSize } from "../model/format";
import { go, useFolder, useKeys } from "../model/hooks";
import { sortEntries } from "../model/order";
import { nameOf, parentOf } from "../model/paths";
import { destination, isArchive } from "../model/places";
import { IconButton, Icon, iconOf } from "./icons";

export function Title({ path, entry }: { path: string; entry: Entry }) {
    const parent = parentOf(path);
    const { value: folder } = useFolder(parent);
    const files = sortEntries(folder?.entries ?? [], { key: "name", falls: false }).filter(
        (other) => other.kind !== "directory" && !isArchive(other),
    );
    const at = files.findIndex((other) => other.name === entry.name);
    const open = (step: number) => {
        const next = at < 0 ? undefined : files[at + step];
        if (next) {
            go(destination(parent, next));
        }
    };
    useKeys({ "[": () => open(-1), "]": () => open(1) });
    return (
        <div class={`title kind-${iconOf(entry)}`}>
            <IconButton icon="up" label="To the folder (Backspace)" onClick={() => go(parent)} />
            <Icon name={iconOf(entry)} />
            <h1>{nameOf(path)}</h1>
            <span class="facts">{formatSize(entry.size)}</span>
            <span class="group">
                <IconButton icon="left" label="File before ([)" disabled={at <= 0} onClick={() => open(-1)} />
                <IconButton
                    icon="right"
                    label="Next file (])"
                    disabled={at < 0 || at >= files.length - 1}
                    onClick={() => open(1)}
                />
            </span>
        </div>
    );
}
