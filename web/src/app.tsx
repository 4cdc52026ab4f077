/** The explorer: the tree, what is in the middle, and its details. */

import { useEffect, useState } from "preact/hooks";
import type { Entry } from "./model/api";
import { locate, type Place } from "./model/folders";
import { go, useKeys, useLoaded, useRoute } from "./model/hooks";
import { join, nameOf, parentOf } from "./model/paths";
import { remember } from "./model/places";
import { linkTo, type Route } from "./model/route";
import { Failure, Waiting } from "./parts/controls";
import { Details } from "./parts/details";
import { Folder } from "./parts/folder";
import { Header } from "./parts/header";
import { Help } from "./parts/help";
import { Search } from "./parts/search";
import { Status } from "./parts/status";
import { Title } from "./parts/title";
import { Tree } from "./parts/tree";
import { Compare } from "./viewers/compare";
import { File } from "./viewers/file";

/** A side that covers the middle in narrow windows. */
type Drawer = "tree" | "details" | null;

/** The entry of a folder that the keyboard moved to. */
interface Focused {
    path: string;
    entry: Entry;
}

export function App() {
    const route = useRoute();
    const { path, params } = route;
    const { value: place, error } = useLoaded(path, () => locate(path));
    const [focused, setFocused] = useState<Focused | null>(null);
    const [drawer, setDrawer] = useState<Drawer>(null);
    const [hasHelp, setHasHelp] = useState(false);
    const folder = place?.kind === "folder" ? path : parentOf(path);

    useEffect(() => {
        setDrawer(null);
        remember(path);
        document.title = path === "" ? "hpimount" : `${nameOf(path)} · hpimount`;
    }, [path]);
    useEffect(() => {
        if (place?.kind === "elsewhere") {
            location.replace(linkTo(place.path, params));
        }
    }, [place]);
    useKeys({
        "?": () => setHasHelp(true),
        Backspace: () => path !== "" && go(parentOf(path)),
        d: () => document.querySelector<HTMLElement>("[data-key=d]")?.click(),
        Escape: () => setDrawer(null),
    });
    return (
        <div class="app" data-drawer={drawer}>
            <a class="skip" href="#main" onClick={skip}>
                Skip to the content
            </a>
            <Header
                path={path}
                folder={folder}
                q={params["q"] ?? ""}
                onTree={() => setDrawer(drawer === "tree" ? null : "tree")}
                onDetails={() => setDrawer(drawer === "details" ? null : "details")}
                onHelp={() => setHasHelp(true)}
            />
            <nav class="side side-tree" aria-label="Folders">
                <Tree path={folder} onOpen={() => setDrawer(null)} />
                <Status />
            </nav>
            <main id="main" class="main" tabIndex={-1}>
                <Content route={route} place={place} error={error} onMove={(entry) => setFocused({ path, entry })} />
            </main>
            <aside class="side side-details" aria-label="Details">
                <DetailsOf path={path} place={place} focused={focused?.path === path ? focused.entry : null} />
            </aside>
            {drawer && <div class="shade" onClick={() => setDrawer(null)} />}
            {hasHelp && <Help onClose={() => setHasHelp(false)} />}
        </div>
    );
}

function Missing({ path, error }: { path: string; error: Error }) {
    return (
        <>
            <Failure error={error} />
            <p class="instead">
                <a href={linkTo("", { q: nameOf(path) })}>
                    Search for <b>{nameOf(path)}</b>
                </a>{" "}
                or <a href={linkTo(parentOf(path))}>go up</a>.
            </p>
        </>
    );
}

/** Moves the focus, since the address names a place of the tree. */
function skip(event: MouseEvent) {
    event.preventDefault();
    document.getElementById("main")?.focus();
}

interface ContentProps {
    route: Route;
    place: Place | null;
    error: Error | null;
    onMove: (entry: Entry) => void;
}

function Content({ route: { path, params }, place, error, onMove }: ContentProps) {
    if (params["q"]) {
        return (
            <>
                <h1 class="hidden">Search</h1>
                <Search path={path} q={params["q"]} />
            </>
        );
    }
    if (error) {
        return <Missing path={path} error={error} />;
    }
    if (!place || place.kind === "elsewhere") {
        return <Waiting />;
    }
    if (place.kind === "folder") {
        return (
            <>
                <h1 class="hidden">{nameOf(path) || "All sources"}</h1>
                <Folder key={path} path={path} params={params} onMove={onMove} />
            </>
        );
    }
    return (
        <>
            <Title path={path} entry={place.entry} />
            {params["view"] === "compare" && params["with"] ? (
                <Compare path={path} other={params["with"]} />
            ) : (
                <File key={path} path={path} entry={place.entry} params={params} />
            )}
        </>
    );
}

interface DetailsOfProps {
    path: string;
    place: Place | null;
    focused: Entry | null;
}

/** Shows the entry that the keyboard moved to, or else the place itself. */
function DetailsOf({ path, place, focused }: DetailsOfProps) {
    const archive = path.endsWith(".d") ? path.slice(0, -".d".length) : null;
    const { value: entered } = useLoaded(archive, () => locate(archive ?? ""));
    if (focused) {
        return <Details path={join(path, focused.name)} entry={focused} />;
    }
    if (archive !== null && entered?.kind === "file") {
        return <Details path={archive} entry={entered.entry} folder={path} />;
    }
    return place && place.kind !== "elsewhere" ? <Details path={path} entry={place.entry} /> : null;
}
