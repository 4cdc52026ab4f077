/** The tree of folders and archives. */

import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { open } from "../model/folders";
import { go, useFocused } from "../model/hooks";
import { type Line, lineOf, outline } from "../model/outline";
import { ancestors, parentOf } from "../model/paths";
import { linkTo } from "../model/route";
import { EntryIcon, Icon, iconOf } from "./icons";
import { Scroller } from "./scroller";

const LINE = 30;

export function Tree({ path, onOpen }: { path: string; onOpen: () => void }) {
    const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set([""]));
    const [loaded, bump] = useReducer((count: number, _: unknown) => count + 1, 0);
    const [active, setActive] = useState<string | null>(null);
    const moves = useRef(false);

    useEffect(() => {
        setUnfolded((before) => new Set([...before, ...ancestors(parentOf(path)), path]));
        setActive(null);
    }, [path]);
    useEffect(() => {
        const stops = [...unfolded].map((folder) => {
            const opened = open(folder);
            opened.load().catch(() => undefined);
            return opened.listen(bump);
        });
        bump(null);
        return () => stops.forEach((stop) => stop());
    }, [unfolded]);

    const lines = useMemo(
        () => outline(unfolded, (folder) => open(folder).folder?.entries ?? null),
        [unfolded, loaded],
    );
    const selected = lineOf(lines, path);
    const current = active === null ? selected : lines.findIndex((line) => line.path === active);

    const fold = (line: Line, isUnfolded: boolean) =>
        setUnfolded((before) => {
            const after = new Set(before);
            isUnfolded ? after.add(line.path) : after.delete(line.path);
            return after;
        });
    const move = (to: number) => {
        moves.current = true;
        setActive(lines[Math.min(Math.max(to, 0), lines.length - 1)]?.path ?? null);
    };
    const press = (event: KeyboardEvent) => {
        const at = Math.max(current, 0);
        const line = lines[at];
        if (!line || event.ctrlKey || event.altKey || event.metaKey) {
            return;
        }
        const actions: Record<string, () => void> = {
            ArrowDown: () => move(at + 1),
            ArrowUp: () => move(at - 1),
            Home: () => move(0),
            End: () => move(lines.length - 1),
            ArrowRight: () => (line.isUnfolded ? move(at + 1) : fold(line, true)),
            ArrowLeft: () => (line.isUnfolded ? fold(line, false) : move(lineOf(lines, parentOf(line.path)))),
            Enter: () => go(line.path),
        };
        const action = actions[event.key];
        if (action) {
            event.preventDefault();
            action();
        }
    };
    return (
        <Scroller
            class="tree"
            role="tree"
            aria-label="Folders and archives"
            count={lines.length}
            rowHeight={LINE}
            reveal={current}
            onKeyDown={press}
        >
            {(at) => {
                const line = lines[at];
                return (
                    line && (
                        <TreeLine
                            key={line.path}
                            line={line}
                            isSelected={at === selected}
                            isActive={at === Math.max(current, 0)}
                            hasFocus={at === current && moves.current && active !== null}
                            onFold={() => fold(line, !line.isUnfolded)}
                            onOpen={onOpen}
                        />
                    )
                );
            }}
        </Scroller>
    );
}

interface TreeLineProps {
    line: Line;
    isSelected: boolean;
    isActive: boolean;
    hasFocus: boolean;
    onFold: () => void;
    onOpen: () => void;
}

function TreeLine({ line, isSelected, isActive, hasFocus, onFold, onOpen }: TreeLineProps) {
    const link = useFocused(hasFocus);
    const clickFold = (event: MouseEvent) => {
        event.preventDefault();
        event.stopPropagation();
        onFold();
    };
    return (
        <a
            ref={link}
            class={`tree-line kind-${iconOf(line.entry)}`}
            href={linkTo(line.path)}
            role="treeitem"
            aria-label={line.name}
            aria-level={line.level}
            aria-posinset={line.position}
            aria-setsize={line.siblings}
            aria-expanded={line.isUnfolded}
            aria-selected={isSelected}
            tabIndex={isActive ? 0 : -1}
            style={{ paddingLeft: `${(line.level - 1) * 16 + 6}px` }}
            onClick={onOpen}
        >
            <span class="tree-fold" data-unfolded={line.isUnfolded} onClick={clickFold}>
                <Icon name="right" />
            </span>
            <EntryIcon entry={line.entry} />
            <span class="tree-name">{line.name}</span>
        </a>
    );
}
