/** How a file differs from another version of it. */

import { diff, type DiffLine } from "../model/api";
import { formatSize } from "../model/format";
import { useLoaded } from "../model/hooks";
import { linkTo } from "../model/route";
import { Failure, Waiting } from "../parts/controls";

interface Difference {
    field?: string;
    old?: unknown;
    new?: unknown;
    note?: string;
}

export function Compare({ path, other }: { path: string; other: string }) {
    const { value: lines, error } = useLoaded(`${path}\n${other}`, () => diff(other, path));
    const shown = lines?.filter((line) => line.type !== "summary");
    return (
        <div class="compare">
            <p>
                What <a href={linkTo(path)}>{path}</a> changes in <a href={linkTo(other)}>{other}</a>
            </p>
            {error && <Failure error={error} />}
            {!lines && !error && <Waiting />}
            {shown?.length === 0 && <p class="empty">Both versions are equal.</p>}
            {shown?.map((line, at) => (
                <Line key={at} line={line} />
            ))}
        </div>
    );
}

function Line({ line }: { line: DiffLine }) {
    const sizes = Array.isArray(line["size"]) ? (line["size"] as number[]).map((size) => formatSize(size)) : [];
    const differences = (line["differences"] ?? []) as Difference[];
    return (
        <section>
            <h2>
                {line.type} {String(line["path"] ?? "")} <span class="facts">{sizes.join(" → ")}</span>
            </h2>
            {typeof line["cause"] === "string" && <p>{line["cause"]}</p>}
            {differences.length > 0 && (
                <table>
                    <thead>
                        <tr>
                            <th scope="col">Field</th>
                            <th scope="col">Before</th>
                            <th scope="col">Now</th>
                        </tr>
                    </thead>
                    <tbody>
                        {differences.map((difference, at) => (
                            <tr key={at}>
                                <th scope="row">{difference.field ?? difference.note}</th>
                                <td>{difference.old !== undefined && <del>{show(difference.old)}</del>}</td>
                                <td>{difference.new !== undefined && <ins>{show(difference.new)}</ins>}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
        </section>
    );
}

const show = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
