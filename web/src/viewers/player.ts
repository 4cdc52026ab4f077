/** Plays a decoded sound, in its loop if that is wanted. */

import type { Loop } from "./wav";

export class Player {
    /** Called when the sound came to its end. */
    onEnd: () => void = () => undefined;

    private readonly context = new AudioContext();
    private readonly volume = this.context.createGain();
    private source: AudioBufferSourceNode | null = null;
    /** The time of the context at which the sound would have begun. */
    private begun = 0;
    private stopped = 0;
    private loops = false;

    private constructor(
        readonly buffer: AudioBuffer,
        private readonly loop: Loop | null,
        private readonly rate: number,
    ) {
        this.volume.connect(this.context.destination);
    }

    /** Decodes a sound; fails if the browser cannot. */
    static async open(bytes: ArrayBuffer, loop: Loop | null, rate: number): Promise<Player> {
        // A context of its own, since that of a player resamples to its own rate too.
        const buffer = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes);
        return new Player(buffer, loop, rate);
    }

    get seconds(): number {
        return this.buffer.duration;
    }

    /** The part that is repeated, in seconds: the loop of the sound, or all of it. */
    get repeated(): { start: number; end: number } {
        return this.loop
            ? { start: this.loop.start / this.rate, end: Math.min(this.loop.end / this.rate, this.seconds) }
            : { start: 0, end: this.seconds };
    }

    /** Where the sound is, in seconds. */
    get position(): number {
        if (!this.source) {
            return this.stopped;
        }
        const played = this.context.currentTime - this.begun;
        const { start, end } = this.repeated;
        return this.loops && played > end ? start + ((played - start) % (end - start)) : Math.min(played, this.seconds);
    }

    play(from = this.stopped): void {
        this.halt();
        void this.context.resume();
        const source = this.context.createBufferSource();
        source.buffer = this.buffer;
        source.connect(this.volume);
        source.loop = this.loops;
        source.loopStart = this.repeated.start;
        source.loopEnd = this.repeated.end;
        source.onended = () => {
            if (this.source === source) {
                this.source = null;
                this.stopped = 0;
                this.onEnd();
            }
        };
        const at = from >= this.seconds ? 0 : from;
        source.start(0, at);
        this.begun = this.context.currentTime - at;
        this.source = source;
    }

    pause(): void {
        this.stopped = this.position;
        this.halt();
    }

    seek(seconds: number): void {
        this.stopped = seconds;
        if (this.source) {
            this.play(seconds);
        }
    }

    setLoops(loops: boolean): void {
        const { position, source } = this;
        this.loops = loops;
        if (source) {
            this.play(position);
        }
    }

    setVolume(volume: number): void {
        this.volume.gain.value = volume;
    }

    close(): void {
        this.halt();
        void this.context.close();
    }

    private halt(): void {
        const { source } = this;
        this.source = null;
        source?.stop();
        source?.disconnect();
    }
}
