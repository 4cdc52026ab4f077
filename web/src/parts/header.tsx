/** The bar at the top: where one is, search, and the looks. */

import { useEffect, useRef, useState } from "preact/hooks";
import { go, useKeys } from "../model/hooks";
import { ancestors, nameOf } from "../model/paths";
import { linkTo } from "../model/route";
import { Icon, IconButton, type IconName } from "./icons";
import { type Theme, useTheme } from "./theme";

interface HeaderProps {
    path: string;
    /** Where searches look: a folder. */
    folder: string;
    q: string;
    onTree: () => void;
    onDetails: () => void;
    onHelp: () => void;
}

export function Header({ path, folder, q, onTree, onDetails, onHelp }: HeaderProps) {
    return (
        <header class="header">
            <IconButton class="only-narrow" icon="menu" label="Folders" onClick={onTree} />
            <a class="brand" href="#/" aria-label="hpimount, all sources">
                <Icon name="model" />
                <span>hpimount</span>
            </a>
            <Breadcrumbs path={path} />
            <SearchBox folder={folder} q={q} />
            <ThemeButton />
            <IconButton icon="help" label="Help (?)" onClick={onHelp} />
            <IconButton class="only-medium" icon="info" label="Details" onClick={onDetails} />
        </header>
    );
}

function Breadcrumbs({ path }: { path: string }) {
    const places = ancestors(path);
    const element = useRef<HTMLElement>(null);
    useEffect(() => element.current?.scrollTo({ left: element.current.scrollWidth }), [path]);
    return (
        <nav class="breadcrumbs" aria-label="Path" ref={element}>
            <ol>
                {places.map((place) => (
                    <li key={place}>
                        <a href={linkTo(place)} aria-current={place === path ? "page" : undefined}>
                            {nameOf(place) || "All"}
                        </a>
                    </li>
                ))}
            </ol>
        </nav>
    );
}

function SearchBox({ folder, q }: { folder: string; q: string }) {
    const [typed, setTyped] = useState<string | null>(null);
    const field = useRef<HTMLInputElement>(null);
    useKeys({ "/": () => field.current?.select() });
    const submit = (event: SubmitEvent) => {
        event.preventDefault();
        const wanted = (typed ?? q).trim();
        setTyped(null);
        if (wanted !== "") {
            go(folder, { q: wanted });
            field.current?.blur();
        }
    };
    return (
        <form class="field search" role="search" onSubmit={submit}>
            <Icon name="search" />
            <input
                ref={field}
                type="search"
                aria-label={folder ? `Search in ${folder}` : "Search"}
                placeholder="Search"
                title="Names and texts (/)"
                value={typed ?? q}
                onInput={(event) => setTyped(event.currentTarget.value)}
                onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
            />
        </form>
    );
}

const NEXT: Record<Theme, { icon: IconName; next: Theme; label: string }> = {
    system: { icon: "system", next: "light", label: "Colors as in the system" },
    light: { icon: "light", next: "dark", label: "Light colors" },
    dark: { icon: "dark", next: "system", label: "Dark colors" },
};

function ThemeButton() {
    const [theme, setTheme] = useTheme();
    const { icon, next, label } = NEXT[theme];
    return <IconButton icon={icon} label={label} onClick={() => setTheme(next)} />;
}
