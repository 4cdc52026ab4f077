/**
 * Jobs of which a few run at once. Those that were asked for last come first,
 * because what was scrolled away is wanted least.
 */

type Job = (signal: AbortSignal) => Promise<void>;

interface Waiting {
    job: Job;
    /** Jobs of one moment run in the order in which they were asked for. */
    moment: number;
    abort: AbortController;
}

/** Jobs within this time are of one moment: a screen of pictures. */
const MOMENT_MS = 150;

export class Queue {
    private waiting: Waiting[] = [];
    private running = 0;

    constructor(
        private readonly limit: number,
        private readonly now: () => number = () => performance.now(),
    ) {}

    /** Adds a job, and returns how to cancel it. */
    add(job: Job): () => void {
        const moment = Math.floor(this.now() / MOMENT_MS);
        const added = { job, moment, abort: new AbortController() };
        this.waiting.push(added);
        this.start();
        return () => {
            added.abort.abort();
            this.waiting = this.waiting.filter((other) => other !== added);
        };
    }

    private start() {
        while (this.running < this.limit && this.waiting.length > 0) {
            const newest = Math.max(...this.waiting.map((waiting) => waiting.moment));
            const at = this.waiting.findIndex((waiting) => waiting.moment === newest);
            const [next] = this.waiting.splice(at, 1);
            if (next) {
                this.run(next);
            }
        }
    }

    private run({ job, abort }: Waiting) {
        this.running += 1;
        const end = () => {
            this.running -= 1;
            this.start();
        };
        job(abort.signal).then(end, end);
    }
}
