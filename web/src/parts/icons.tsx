/** Icons, drawn here. */

import type { ComponentChildren } from "preact";
import type { Entry } from "../model/api";
import { isArchive } from "../model/places";

const PATHS = {
    folder: "M3 6.5A1.5 1.5 0 0 1 4.5 5H9l2 2.5h8.5A1.5 1.5 0 0 1 21 9v8.5a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5z",
    archive: "M12 2.8l8.5 4.6v9.2L12 21.2l-8.5-4.6V7.4zM3.5 7.4L12 12l8.5-4.6M12 12v9.2M7.7 5.1l8.5 4.6v3",
    picture: "M4 5h16v14H4zM4 16l4.5-4.5L13 16l2.5-2.5L20 18M15.5 10a1.2 1.2 0 1 0 0-2.4 1.2 1.2 0 0 0 0 2.4z",
    model: "M12 3l7.8 4.5v9L12 21l-7.8-4.5v-9zM4.2 7.5L12 12l7.8-4.5M12 12v9",
    sound: "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5zM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11",
    table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14",
    json: "M9 4C6 4 7.5 10 5 12c2.5 2 1 8 4 8M15 4c3 0 1.5 6 4 8-2.5 2-1 8-4 8",
    text: "M6 3.5h8l4 4V20.5H6zM14 3.5v4h4M9 12h6M9 15.5h6",
    hex: "M6 3.5h12v17H6zM9 8h2v3H9zM14 8v3M10 13.5v3M13 13.5h2v3h-2z",
    link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.5-5.5l-1 1M14 10a4 4 0 0 0-6-.5l-3 3A4 4 0 0 0 10.5 18l1-1",
    search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20.5 20.5",
    menu: "M4 6.5h16M4 12h16M4 17.5h16",
    info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5.5M12 7.5v.5",
    help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.3 9.5a2.7 2.7 0 1 1 3.9 2.400c-.8.4-1.2.9-1.2 1.800M12 16.5v.5",
    light: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.300l1.4 1.400M17.3 17.300l1.4 1.400M5.3 18.700l1.4-1.400M17.3 6.700l1.4-1.4",
    dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
    system: "M4 5h16v11H4zM9 20h6M12 16v4",
    up: "M12 19V5.5M6 11.5l6-6 6 6",
    down: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
    left: "M14.5 6l-6 6 6 6",
    right: "M9.5 6l6 6-6 6",
    close: "M6 6l12 12M18 6L6 18",
    grid: "M4 4h6.5v6.5H4zM13.5 4H20v6.5h-6.5zM4 13.5h6.5V20H4zM13.5 13.5H20V20h-6.5z",
    list: "M4 6h2M4 12h2M4 18h2M9.5 6H20M9.5 12H20M9.5 18H20",
    play: "M7.5 4.5v15l12-7.5z",
    pause: "M8 5v14M16 5v14",
    copy: "M9 9h11v11H9zM5 15H4V4h11v1",
    check: "M5 12.5l5 5L19.5 7",
    warning: "M12 4L2.8 20h18.400zM12 10v5M12 17.5v.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
    return (
        <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
            <path d={PATHS[name]} />
        </svg>
    );
}

/** The name of the icon of an entry. */
export function iconOf(entry: Entry): IconName {
    if (entry.kind === "directory") {
        return "folder";
    }
    if (isArchive(entry)) {
        return "archive";
    }
    return entry.view ?? (entry.kind === "link" ? "link" : "hex");
}

export function EntryIcon({ entry }: { entry: Entry }) {
    return <Icon name={iconOf(entry)} />;
}

interface IconButtonProps {
    icon: IconName;
    label: string;
    onClick: () => void;
    /** Of buttons that switch something: whether it is on. */
    pressed?: boolean;
    disabled?: boolean;
    class?: string;
    children?: ComponentChildren;
}

/** A button with an icon, whose name is said and shown on hovering. */
export function IconButton({ icon, label, onClick, pressed, disabled, class: className, children }: IconButtonProps) {
    return (
        <button
            type="button"
            class={`button ${children === undefined ? "icon-only" : ""} ${className ?? ""}`}
            aria-label={label}
            title={label}
            aria-pressed={pressed}
            disabled={disabled}
            onClick={onClick}
        >
            <Icon name={icon} />
            {children}
        </button>
    );
}
