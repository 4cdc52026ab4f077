/** Small controls that several parts use. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Order } from "../model/order";
import { Icon, IconButton } from "./icons";

/** An arrow in the header of the column that rows are sorted by. */
export function SortMark({ order, column }: { order: Order | null; column: string }) {
    if (order?.key !== column) {
        return null;
    }
    return (
        <span class="sort-mark" aria-hidden="true">
            {order.falls ? "▾" : "▴"}
        </span>
    );
}

interface FieldProps {
    id?: string;
    label: string;
    value: string;
    onInput: (value: string) => void;
    onEnter?: (backwards: boolean) => void;
    children?: ComponentChildren;
}

/** A field that filters or finds; Escape empties it, then leaves it. */
export function FilterField({ id, label, value, onInput, onEnter, children }: FieldProps) {
    const press = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
        if (event.key === "Enter") {
            onEnter?.(event.shiftKey);
        } else if (event.key === "Escape") {
            value === "" ? event.currentTarget.blur() : onInput("");
        }
    };
    return (
        <span class="field">
            <Icon name="search" />
            <input
                id={id}
                type="text"
                value={value}
                aria-label={label}
                placeholder={label}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => onInput(event.currentTarget.value)}
                onKeyDown={press}
            />
            {children}
        </span>
    );
}

interface SwitchProps {
    label: string;
    title?: string;
    isOn: boolean;
    onChange: (isOn: boolean) => void;
}

/** A button that is pressed while something is on. */
export function Switch({ label, title, isOn, onChange }: SwitchProps) {
    return (
        <button type="button" class="button" aria-pressed={isOn} title={title} onClick={() => onChange(!isOn)}>
            {label}
        </button>
    );
}

/** A button that copies a text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
    const [isDone, setIsDone] = useState(false);
    const copy = async () => {
        await navigator.clipboard.writeText(text);
        setIsDone(true);
        setTimeout(() => setIsDone(false), 1500);
    };
    return (
        <IconButton icon={isDone ? "check" : "copy"} label={isDone ? "Copied" : label} onClick={() => void copy()} />
    );
}

export function Failure({ error }: { error: Error }) {
    return (
        <div class="failure" role="alert">
            <Icon name="warning" />
            <p>{error.message}</p>
        </div>
    );
}

/** Shown while something loads, and only if that takes a moment. */
export function Waiting({ label = "Loading" }: { label?: string }) {
    return (
        <div class="waiting" role="status">
            <span class="spinner" aria-hidden="true" />
            <span class="hidden">{label}</span>
        </div>
    );
}
