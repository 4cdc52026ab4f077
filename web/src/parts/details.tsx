/** What is known of a file or folder, and what can be done with it. */

import { download, type Entry, where, type Where, zip } from "../model/api";
import { formatSize, formatTime } from "../model/format";
import { useLoaded } from "../model/hooks";
import { join, nameOf, parentOf } from "../model/paths";
import { linkTo } from "../model/route";
import { CopyButton } from "./controls";
import { Fact, Facts, Section } from "./facts";
import { Icon, iconOf } from "./icons";
import { References } from "./references";

interface DetailsProps {
    path: string;
    /** Of the root, and of folders that are not listed: null. */
    entry: Entry | null;
    /** The folder that can be downloaded: that of an archive which was entered. */
    folder?: string;
}

export function Details({ path, entry, folder }: DetailsProps) {
    const { value: known } = useLoaded(path, (signal) => where(path, signal));
    const isFolder = entry === null || entry.kind === "directory";
    const zipped = folder ?? (isFolder ? path : null);
    return (
        <>
            <div class={`details-name kind-${entry ? iconOf(entry) : "folder"}`}>
                <Icon name={entry ? iconOf(entry) : "folder"} />
                <h2>{nameOf(path) || "All sources"}</h2>
                {path && <CopyButton text={path} label="Copy the path" />}
            </div>
            <Facts>
                {entry?.type && <Fact name="Type">{entry.type}</Fact>}
                {!isFolder && entry.size !== null && (
                    <Fact name="Size">
                        {formatSize(entry.size)}
                        {entry.size >= 1024 && ` (${entry.size.toLocaleString("en")})`}
                    </Fact>
                )}
                {entry?.modified ? <Fact name="Changed">{formatTime(entry.modified)}</Fact> : null}
            </Facts>
            <div class="downloads">
                {!isFolder && (
                    <a class="button" href={download(path)} download data-key="d">
                        <Icon name="down" /> Download
                    </a>
                )}
                {zipped !== null && (
                    <>
                        <a class="button" href={zip(zipped)} download data-key={isFolder ? "d" : undefined}>
                            <Icon name="down" /> Files as zip
                        </a>
                        <a class="button" href={`${zip(zipped)}?converted`} download>
                            <Icon name="down" /> Converted as zip
                        </a>
                    </>
                )}
                {entry?.converted.map((converted) => (
                    <a class="button" key={converted} href={download(converted)} download>
                        <Icon name="down" /> {nameOf(converted)}
                    </a>
                ))}
            </div>
            {known && (
                <Origin known={known} path={path} inside={folder === undefined ? insideOf(path, entry, known) : null} />
            )}
            {!isFolder && <References path={path} id={known?.attributes["user.hip.id"]} />}
        </>
    );
}

/** Returns the folder that shows what is in a file. */
function insideOf(path: string, entry: Entry | null, known: Where): string | null {
    return known.meta ?? (entry?.enter ? join(parentOf(path), entry.enter) : null);
}

function Origin({ known, path, inside }: { known: Where; path: string; inside: string | null }) {
    const attributes = Object.entries(known.attributes);
    return (
        <>
            {known.chain.length > 0 && (
                <Section title="Where from">
                    <ol class="chain">
                        {known.chain.map((step, at) => (
                            <li key={at}>
                                <span>{step.path ?? step.source}</span> <span class="badge">{step.format}</span>
                            </li>
                        ))}
                    </ol>
                </Section>
            )}
            {known.shadows.length > 0 && (
                <Section title="Shadows">
                    <ul class="shadows">
                        {known.shadows.map((shadow) => (
                            <li key={shadow.path}>
                                <a href={linkTo(shadow.path)}>{shadow.source}</a>
                                <a class="button" href={linkTo(path, { view: "compare", with: shadow.path })}>
                                    Compare
                                </a>
                            </li>
                        ))}
                    </ul>
                </Section>
            )}
            {inside !== null && (
                <Section title="Inside">
                    <a href={linkTo(inside)}>{nameOf(inside)}</a>
                </Section>
            )}
            {attributes.length > 0 && (
                <Section title="Attributes">
                    <Facts>
                        {attributes.map(([name, value]) => (
                            <Fact key={name} name={name.replace(/^user\./, "")}>
                                {value}
                            </Fact>
                        ))}
                    </Facts>
                </Section>
            )}
        </>
    );
}
