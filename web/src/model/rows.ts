/**
 * Which rows of a long list are in view. Rows have one height, so that positions
 * are arithmetic. Browsers limit the height of an element; a list that would be
 * higher is scrolled in proportion.
 */

/** Below the limits of all browsers: Firefox ends at 17 million pixels. */
const MAX_HEIGHT = 8_000_000;

/** Rows outside of the view that are there, so that scrolling shows no gaps. */
const MARGIN = 4;

export interface Rows {
    /** The height of the whole list as the scroll bar sees it. */
    height: number;
    first: number;
    /** One past the last row. */
    end: number;
    /** Where the first row is drawn. */
    top: number;
}

function heights(count: number, rowHeight: number, viewHeight: number) {
    const full = count * rowHeight;
    const height = Math.min(full, MAX_HEIGHT);
    const scale = height > viewHeight ? (full - viewHeight) / (height - viewHeight) : 1;
    return { height, scale };
}

export function rowsInView(count: number, rowHeight: number, viewHeight: number, scrollTop: number): Rows {
    const { height, scale } = heights(count, rowHeight, viewHeight);
    const position = Math.min(Math.max(scrollTop, 0), Math.max(height - viewHeight, 0));
    const shown = position * scale;
    const first = Math.max(0, Math.floor(shown / rowHeight) - MARGIN);
    const end = Math.min(count, Math.ceil((shown + viewHeight) / rowHeight) + MARGIN);
    return { height, first, end, top: position + first * rowHeight - shown };
}

/** Returns where to scroll so that a row is in view; null if it is. */
export function scrollTo(
    row: number,
    count: number,
    rowHeight: number,
    viewHeight: number,
    scrollTop: number,
): number | null {
    const { scale } = heights(count, rowHeight, viewHeight);
    const shown = scrollTop * scale;
    const top = row * rowHeight;
    if (top < shown) {
        return top / scale;
    }
    return top + rowHeight > shown + viewHeight ? (top + rowHeight - viewHeight) / scale : null;
}
