/** What a file uses and what uses it, by the tables of its archive. */

import { readText } from "../model/api";
import { leads } from "../model/folders";
import { useLoaded } from "../model/hooks";
import { type Linker, linkers } from "../model/links";
import { ancestors, join, parentOf } from "../model/paths";
import { findReferences, type Reference } from "../model/references";
import { linkTo } from "../model/route";
import { parseTable, type Table } from "../model/table";
import { Section } from "./facts";

/** Tables of references, of all families of games. */
const TABLES = ["refs.tsv", "references.tsv"];

/** So many references are shown; the table has all. */
const SHOWN = 12;

interface Loaded {
    path: string;
    table: Table;
    links: (Linker | null)[];
}

/** Tables do not change while they are shown often. */
const tables = new Map<string, Promise<Loaded | null>>();

/** Returns the table of references of the archive that a path is in. */
async function tableOf(path: string): Promise<Loaded | null> {
    for (const root of ancestors(parentOf(path)).reverse()) {
        const loaded = tables.get(root) ?? loadTable(root);
        tables.set(root, loaded);
        const table = await loaded;
        if (table) {
            return table;
        }
    }
    return null;
}

async function loadTable(root: string): Promise<Loaded | null> {
    for (const name of TABLES) {
        const path = join(root, `converted/tables/${name}`);
        if (await leads(path)) {
            const table = parseTable(await readText(path));
            return { path, table, links: await linkers(path, table) };
        }
    }
    return null;
}

export function References({ path, id }: { path: string; id: string | undefined }) {
    const { value: loaded } = useLoaded(path, () => tableOf(path));
    if (!loaded) {
        return null;
    }
    const { uses, usedBy } = findReferences(loaded.table, loaded.links, path, id);
    return (
        <>
            <List title="Uses" references={uses} table={loaded.path} />
            <List title="Used by" references={usedBy} table={loaded.path} />
        </>
    );
}

function List({ title, references, table }: { title: string; references: Reference[]; table: string }) {
    if (references.length === 0) {
        return null;
    }
    return (
        <Section title={title}>
            <ul class="references">
                {references.slice(0, SHOWN).map(({ name, kind, path, row }) => (
                    <li key={row}>
                        {path !== null ? <a href={linkTo(path)}>{name}</a> : <span>{name}</span>}{" "}
                        <span class={`badge ${kind === "missing" ? "badge-warning" : ""}`}>{kind}</span>
                    </li>
                ))}
            </ul>
            {references.length > SHOWN && <a href={linkTo(table)}>All {references.length} in the table</a>}
        </Section>
    );
}
