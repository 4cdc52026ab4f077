/** A small picture of an asset, or the icon of its kind while there is none. */

import { useEffect, useState } from "preact/hooks";
import { type Entry, Refused, request, thumb } from "../model/api";
import { Queue } from "../model/queue";
import { EntryIcon } from "./icons";

const queue = new Queue(4);

/** Pictures are shown at half of this, so that they are sharp on every screen. */
const PIXELS = 256;

/** The height of a picture in a folder, and how often small ones are enlarged. */
const ROOM = 100;
const MOST_TIMES = 4;

/** How often a picture is asked for while the server has no time. */
const TRIES = 5;

export function Thumb({ path, entry }: { path: string; entry: Entry }) {
    const [source, setSource] = useState<string | null>(null);
    useEffect(() => {
        if (!entry.thumb) {
            return;
        }
        let shown: string | null = null;
        const cancel = queue.add(async (signal) => {
            const picture = await fetchPicture(thumb(path, PIXELS, entry.etag), signal);
            if (!signal.aborted) {
                shown = URL.createObjectURL(picture);
                setSource(shown);
            }
        });
        return () => {
            cancel();
            if (shown !== null) {
                URL.revokeObjectURL(shown);
            }
        };
    }, [path, entry.thumb, entry.etag]);
    if (source === null) {
        return <EntryIcon entry={entry} />;
    }
    return <img src={source} alt="" draggable={false} onLoad={enlarge} onError={() => setSource(null)} />;
}

/** Shows small pictures larger, by whole numbers, so that their pixels stay square. */
function enlarge({ currentTarget: picture }: { currentTarget: HTMLImageElement }) {
    const times = Math.min(Math.floor(ROOM / Math.max(picture.naturalWidth, picture.naturalHeight)), MOST_TIMES);
    if (times > 1) {
        picture.width = picture.naturalWidth * times;
        picture.className = "pixels";
    }
}

async function fetchPicture(url: string, signal: AbortSignal): Promise<Blob> {
    for (let tries = 1; ; tries += 1) {
        try {
            return await (await request(url, { signal })).blob();
        } catch (error) {
            const isBusy = error instanceof Refused && error.status === 503;
            if (!isBusy || tries === TRIES) {
                throw error;
            }
            await new Promise((resolve) => setTimeout(resolve, tries * 500));
        }
    }
}
