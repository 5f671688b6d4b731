// Where Python can be: a worker, or the page itself. Both take and give the messages that worker.mjs describes.
import { load } from "./parts.mjs";

class Host {
  onMessage = (_data) => {};
  onLost = (_born) => {};

  /** Start with what an earlier worker had loaded, or with nothing. */
  begin(_parts) {}

  end() {}
}

/** A worker: a new one, or one that early.js has started. */
export class WorkerHost extends Host {
  born = false; // whether it has ever spoken
  worker = null;

  constructor(early) {
    super();
    this.early = early;
  }

  begin(parts) {
    try {
      this.worker = this.early?.worker ?? new Worker(trusted(new URL("./worker.mjs", import.meta.url).href), options(parts));
    } catch {
      queueMicrotask(() => this.onLost(false));
      return;
    }
    this.worker.onmessage = (event) => this.hear(event);
    this.worker.onmessageerror = (event) => this.hear(event);
    this.worker.onerror = (event) => this.hear(event);
    const noted = this.early?.events ?? [];
    if (this.early) this.early.events = null; // from now on nothing is noted
    for (const event of noted) this.hear(event);
    if (parts) this.post({ type: "start", parts });
  }

  hear(event) {
    if (event.type === "message") {
      this.born = true;
      this.onMessage(event.data);
    } else {
      event.preventDefault();
      this.onLost(this.born);
    }
  }

  post(message) {
    this.worker?.postMessage(message);
  }

  end() {
    this.worker?.terminate();
  }
}

const options = (parts) => /** @type {WorkerOptions} */ ({ type: "module", name: parts ? "again" : "" });

/** The page itself. */
export class PageHost extends Host {
  python = null;

  async begin() {
    try {
      const loading = load((count) => this.onMessage({ type: "bytes", count }));
      const [{ start }, parts] = await Promise.all([import("./python.mjs"), loading]);
      this.python = await start(parts.module, parts.image);
      this.onMessage({ type: "ready" });
    } catch {
      this.onMessage({ type: "failed" });
    }
  }

  async post({ type, text = "", texts = [] }) {
    await Promise.resolve(); // an answer never comes before the asking is over
    if (type === "ask") this.onMessage(this.answer(text));
    else for (const practice of texts) this.answer(practice);
  }

  answer(text) {
    try {
      return { type: "answer", text: this.python.respond(text) };
    } catch {
      return { type: "refused" };
    }
  }
}

/** Where a page demands trusted types, the worker's address is one that we vouch for. */
const policy = globalThis.trustedTypes?.createPolicy("lesson-worker", { createScriptURL: (address) => address });
const trusted = (url) => (policy ? policy.createScriptURL(url) : url);
