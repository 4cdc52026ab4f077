/** Hooks that connect components with the address bar, the server and the keyboard. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Folder, open } from "./folders";
import { linkTo, parseRoute, type Route } from "./route";

export interface Loaded<T> {
    readonly value: T | null;
    readonly error: Error | null;
}

const NOTHING = { value: null, error: null };

/** Loads a value when its key changes; the load of an earlier key is aborted. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
    const [loaded, setLoaded] = useState<Loaded<T> & { key: string | null }>({ key: null, ...NOTHING });
    useEffect(() => {
        if (key === null) {
            return;
        }
        const abort = new AbortController();
        load(abort.signal).then(
            (value) => abort.signal.aborted || setLoaded({ key, value, error: null }),
            (error: Error) => abort.signal.aborted || setLoaded({ key, value: null, error }),
        );
        return () => abort.abort();
    }, [key]);
    return loaded.key === key ? loaded : NOTHING;
}

export function useRoute(): Route {
    const [route, setRoute] = useState(() => parseRoute(location.hash));
    useEffect(() => {
        const follow = () => setRoute(parseRoute(location.hash));
        follow();
        addEventListener("hashchange", follow);
        return () => removeEventListener("hashchange", follow);
    }, []);
    return route;
}

export function go(path: string, params?: Readonly<Record<string, string | undefined>>): void {
    location.hash = linkTo(path, params);
}

/** Changes parameters of the present place, which Back does not undo. */
export function setParams(params: Readonly<Record<string, string | undefined>>): void {
    const route = parseRoute(location.hash);
    history.replaceState(null, "", linkTo(route.path, { ...route.params, ...params }));
    dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useFolder(path: string): Loaded<Folder> {
    const [shown, setShown] = useState<Loaded<Folder> & { path: string }>({ path, ...NOTHING });
    useEffect(() => {
        const folder = open(path);
        const show = (value: Folder | null, error: Error | null = null) => setShown({ path, value, error });
        const stop = folder.listen(show);
        const load = () => folder.load().catch((error: Error) => show(folder.folder, error));
        show(folder.folder);
        void load();
        // It may have changed while another program was used.
        addEventListener("focus", load);
        return () => {
            removeEventListener("focus", load);
            stop();
        };
    }, [path]);
    return shown.path === path ? shown : { value: open(path).folder, error: null };
}

/** Keys while a component is shown, by the names of KeyboardEvent. */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Handles keys that are not typed into a field and not held with another one. */
export function useKeys(keys: Keys): void {
    const latest = useRef(keys);
    latest.current = keys;
    // Before what they are for can be seen.
    useLayoutEffect(() => {
        const press = (event: KeyboardEvent) => {
            if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || isField(event.target)) {
                return;
            }
            const handle = latest.current[event.key];
            if (handle) {
                event.preventDefault();
                handle(event);
            }
        };
        addEventListener("keydown", press);
        return () => removeEventListener("keydown", press);
    }, []);
}

let keyboard = false;
addEventListener("keydown", () => (keyboard = true), { capture: true });
addEventListener("pointerdown", () => (keyboard = false), { capture: true });

/** Whether the last thing that was pressed was a key. */
export const usesKeyboard = (): boolean => keyboard;

function isField(target: EventTarget | null): boolean {
    return (
        target instanceof HTMLElement &&
        target.matches("input:not([type=checkbox], [type=range]), select, textarea, dialog *")
    );
}

/** Focuses a link when it gets the focus of the list that it is in, which scrolls by itself. */
export function useFocused(hasFocus: boolean): { current: HTMLAnchorElement | null } {
    const link = useRef<HTMLAnchorElement>(null);
    useEffect(() => {
        if (hasFocus) {
            link.current?.focus({ preventScroll: true });
        }
    }, [hasFocus]);
    return link;
}

/** Follows the size of an element. */
export function useSize<T extends HTMLElement>(): [{ current: T | null }, { width: number; height: number }] {
    const element = useRef<T>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    useEffect(() => {
        const observed = element.current;
        if (!observed) {
            return;
        }
        const observer = new ResizeObserver(() =>
            setSize({ width: observed.clientWidth, height: observed.clientHeight }),
        );
        observer.observe(observed);
        return () => observer.disconnect();
    }, []);
    return [element, size];
}

/** A setting that this browser remembers. */
export function useSetting<T extends string>(name: string, initial: T): [T, (value: T) => void] {
    const [value, setValue] = useState(() => (localStorage.getItem(name) as T | null) ?? initial);
    const change = useCallback((value: T) => {
        localStorage.setItem(name, value);
        setValue(value);
    }, []);
    return [value, change];
}

/** A setting that is on or off. */
export function useSwitch(name: string, initial: boolean): [boolean, (isOn: boolean) => void] {
    const [value, setValue] = useSetting<"on" | "off">(name, initial ? "on" : "off");
    return [value === "on", (isOn) => setValue(isOn ? "on" : "off")];
}
