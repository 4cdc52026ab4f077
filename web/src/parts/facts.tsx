/** Facts with their names, in sections. */

import type { ComponentChildren } from "preact";

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
    return (
        <section class="details-section">
            <h3>{title}</h3>
            {children}
        </section>
    );
}

export const Facts = ({ children }: { children: ComponentChildren }) => <dl class="fact-list">{children}</dl>;

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
    return (
        <div>
            <dt>{name.split(/(?<=[._])/).map((part) => [part, <wbr key={part} />])}</dt>
            <dd>{children}</dd>
        </div>
    );
}
