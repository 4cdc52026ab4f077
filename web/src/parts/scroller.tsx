/** A long list of which only the rows in view exist. */

import type { ComponentChildren, HTMLAttributes } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { useSize } from "../model/hooks";
import { rowsInView, scrollTo } from "../model/rows";

interface ScrollerProps extends Omit<HTMLAttributes<HTMLDivElement>, "children" | "ref"> {
    count: number;
    rowHeight: number;
    /** A row that is scrolled into view when it changes. */
    reveal?: number | undefined;
    onWidth?: (width: number) => void;
    children: (row: number) => ComponentChildren;
}

export function Scroller({ count, rowHeight, reveal, onWidth, children, ...rest }: ScrollerProps) {
    const [element, { width, height }] = useSize<HTMLDivElement>();
    const [top, setTop] = useState(0);
    useLayoutEffect(() => onWidth?.(width), [width]);
    useLayoutEffect(() => {
        const scrolled = element.current;
        if (scrolled && height > 0 && reveal !== undefined && reveal >= 0) {
            scrolled.scrollTop = scrollTo(reveal, count, rowHeight, height, scrolled.scrollTop) ?? scrolled.scrollTop;
        }
    }, [reveal, count, height > 0, rowHeight]);

    const rows = rowsInView(count, rowHeight, height, top);
    const shown = Array.from({ length: Math.max(0, rows.end - rows.first) }, (_, at) => rows.first + at);
    return (
        <div {...rest} ref={element} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
            <div class="scrolled" role="presentation" style={{ height: `${rows.height}px` }}>
                <div class="scrolled-rows" role="presentation" style={{ transform: `translateY(${rows.top}px)` }}>
                    {shown.map(children)}
                </div>
            </div>
        </div>
    );
}
