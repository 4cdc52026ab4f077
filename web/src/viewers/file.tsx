/** A file: tabs for what can be shown of it, and the viewer of the chosen one. */

import type { ComponentType } from "preact";
import { useRef } from "preact/hooks";
import { type Entry, listAll, type View } from "../model/api";
import { chooseFacet, type Facet, facetsOf, VIEWS } from "../model/facets";
import { setParams, useLoaded } from "../model/hooks";
import { join, parentOf } from "../model/paths";
import type { Params } from "../model/route";
import { Waiting } from "../parts/controls";
import { Icon } from "../parts/icons";
import { HexViewer } from "./hex";
import { JsonViewer } from "./json";
import { ModelViewer } from "./model";
import { PictureViewer } from "./picture";
import { SoundViewer } from "./sound";
import { TableViewer } from "./table";
import { TextViewer } from "./text";
import type { ViewerProps } from "./viewer";

const VIEWERS: Record<View, { title: string; viewer: ComponentType<ViewerProps> }> = {
    model: { title: "Model", viewer: ModelViewer },
    picture: { title: "Picture", viewer: PictureViewer },
    sound: { title: "Sound", viewer: SoundViewer },
    text: { title: "Text", viewer: TextViewer },
    table: { title: "Table", viewer: TableViewer },
    json: { title: "JSON", viewer: JsonViewer },
    hex: { title: "Hex", viewer: HexViewer },
};

export function File({ path, entry, params }: { path: string; entry: Entry; params: Params }) {
    const meta = entry.enter?.endsWith(".meta") ? join(parentOf(path), entry.enter) : null;
    const { value: inside, error } = useLoaded(meta, () => listAll(meta ?? ""));
    if (meta !== null && !inside && !error) {
        return <Waiting />;
    }
    const facets = facetsOf(path, entry, inside?.entries ?? null);
    const shown = chooseFacet(facets, path, entry, params["view"], params["of"]);
    if (!shown) {
        return null;
    }
    const ofView = facets.filter((facet) => facet.view === shown.view);
    const { title, viewer: Viewer } = VIEWERS[shown.view];
    return (
        <div class="file">
            <Tabs facets={facets} shown={shown} />
            <div class="panel" role="tabpanel" id="panel" aria-label={title}>
                {ofView.length > 1 && <Choices facets={ofView} shown={shown} />}
                <Viewer key={shown.path + shown.view} facet={shown} params={params} />
            </div>
        </div>
    );
}

/** Parameters that belong to one view. */
const OF_VIEW = { of: undefined, sort: undefined, row: undefined, anim: undefined };

function Tabs({ facets, shown }: { facets: readonly Facet[]; shown: Facet }) {
    const element = useRef<HTMLDivElement>(null);
    const views = VIEWS.filter((view) => facets.some((facet) => facet.view === view));
    const choose = (view: View) => view !== shown.view && setParams({ ...OF_VIEW, view });
    const press = (event: KeyboardEvent) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        const next = views[(views.indexOf(shown.view) + step + views.length) % views.length];
        if (step !== 0 && next !== undefined) {
            event.preventDefault();
            choose(next);
            element.current?.querySelectorAll("button")[views.indexOf(next)]?.focus();
        }
    };
    return (
        <div class="tabs" role="tablist" aria-label="Views" ref={element} onKeyDown={press}>
            {views.map((view) => (
                <button
                    key={view}
                    type="button"
                    role="tab"
                    aria-selected={view === shown.view}
                    aria-controls="panel"
                    tabIndex={view === shown.view ? 0 : -1}
                    onClick={() => choose(view)}
                >
                    <Icon name={view} />
                    {VIEWERS[view].title}
                </button>
            ))}
        </div>
    );
}

/** The files of a view, such as the tables of an asset. */
function Choices({ facets, shown }: { facets: readonly Facet[]; shown: Facet }) {
    return (
        <div class="choices" role="group" aria-label="Files">
            {facets.map((facet) => (
                <button
                    key={facet.path}
                    type="button"
                    aria-pressed={facet === shown}
                    onClick={() => setParams({ ...OF_VIEW, view: facet.view, of: facet.label })}
                >
                    {facet.label}
                </button>
            ))}
        </div>
    );
}
