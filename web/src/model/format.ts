/** Numbers and times as people read them. */

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function formatSize(size: number | null): string {
    if (size === null) {
        return "";
    }
    let value = size;
    let unit = 0;
    while (value >= 1024 && unit < UNITS.length - 1) {
        value /= 1024;
        unit += 1;
    }
    const digits = unit === 0 || value >= 100 ? 0 : 1;
    return `${value.toFixed(digits)} ${size === 1 ? "byte" : UNITS[unit]}`;
}

/** Formats seconds since 1970; archives without times have 0. */
export function formatTime(seconds: number | null): string {
    return seconds ? new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ") : "";
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
    return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Formats a length in seconds as "1:02.5". */
export function formatLength(seconds: number): string {
    const tenths = Math.round(seconds * 10);
    const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
    return `${Math.floor(tenths / 600)}:${rest}`;
}

export function hexadecimal(number: number, digits: number): string {
    return number.toString(16).toUpperCase().padStart(digits, "0");
}
