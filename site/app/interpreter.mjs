// The reader's Python, wherever it runs: in a worker that is started again when it dies, or, where no worker can start
// (a sandboxed frame), on the page itself. One question at a time; what was asked of a dead worker is asked again.
import { download } from "./download.mjs";
import { image, sizes, wasm } from "./runtime.mjs";
import { forget, keep, kept } from "./store.mjs";

/** How many bytes are to come before Python can start. */
export const total = sizes.wasm + sizes.image;

const DEATHS = 3; // in a row, after which we give up
const PATIENCE = 4000; // ms for an answer; doubled with every death, so that a slow machine is not taken for a dead one
const START_PATIENCE = 20000; // ms between two signs of life while starting, once everything is downloaded

export class Interpreter {
  constructor() {
    this.onChange = () => {}; // called after every change of state, stage or bytes
    this.state = "idle"; // idle, starting, ready, failed
    this.stage = ""; // fetch or start, while starting
    this.bytes = 0; // downloaded so far
    this.waiting = []; // questions, the first of which is being answered
    this.asked = null; // the question that this host was sent, until its answer is here
    this.deaths = 0;
    this.parts = null; // a promise of what Python starts from
    this.host = null;
    this.inPage = false;
    this.clock = undefined;
  }

  /** Begin, or begin again after a failure. */
  async start() {
    if (this.state === "starting" || this.state === "ready") return;
    this.deaths = 0;
    this.bytes = 0;
    this.become("starting", "fetch");
    try {
      const loaded = this.load();
      this.spawn(); // its scripts come while the rest is on its way
      await loaded;
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Ask a question; resolves to the answer, or to null when Python refuses it twice. */
  ask(question) {
    return new Promise((resolve) => {
      this.waiting.push({ text: JSON.stringify(question), resolve, refused: false });
      if (this.waiting.length === 1) this.send();
    });
  }

  /** Let an idle Python practise with some questions, and keep what was downloaded for the next visit. */
  async rest(questions) {
    this.host?.post({ type: "rest", texts: questions.map((question) => JSON.stringify(question)) });
    const buffer = (await this.parts).image;
    const binary = { headers: { "content-type": "application/octet-stream" } };
    await keep([
      [wasm, () => download(wasm, "application/wasm")],
      ...(buffer ? [[image, async () => new Response(buffer, binary)]] : []),
    ]);
  }

  /** The compiled module and the image, downloaded once however often Python starts. */
  load() {
    this.parts ??= Promise.all([this.module(), this.image()]).then(([module, buffer]) => ({ module, image: buffer }));
    return this.parts;
  }

  async module() {
    const response = (await kept(wasm)) ?? (await download(wasm, "application/wasm", this.count));
    return WebAssembly.compileStreaming(response);
  }

  /** The image, or null where it cannot be had: Python starts plainly then. */
  async image() {
    try {
      const response = (await kept(image)) ?? (await download(image, "application/octet-stream", this.count));
      return await response.arrayBuffer();
    } catch {
      return null;
    }
  }

  count = (bytes) => {
    this.bytes = Math.min(this.bytes + bytes, total);
    this.onChange();
  };

  become(state, stage = "") {
    this.state = state;
    this.stage = stage;
    this.onChange();
  }

  /** Start a Python in a worker, with all that is loaded. */
  spawn() {
    this.host?.end();
    this.asked = null;
    this.host = this.inPage ? new PageHost() : new WorkerHost();
    const host = this.host;
    const current = (act) => (data) => host === this.host && act(data);
    host.onMessage = current((data) => this.heard(data));
    host.onLost = current((born) => this.lost(born));
    host.begin();
    this.parts.then(
      ({ module, image: buffer }) => {
        if (host !== this.host) return;
        this.become("starting", "start");
        host.begun = true;
        host.post({ type: "start", wasm: module, image: buffer });
        this.watch(START_PATIENCE);
      },
      () => {}, // start() tells
    );
  }

  heard(data) {
    this.watch(0);
    if (data.type === "beat") this.watch(this.host.begun ? START_PATIENCE : 0);
    else if (data.type === "failed") this.fail(data.why);
    else if (data.type === "refused") this.refuse();
    else {
      if (data.type === "ready") this.become("ready");
      else this.settle(JSON.parse(data.text));
      this.send();
    }
  }

  settle(answer) {
    this.deaths = 0;
    this.asked = null;
    this.waiting.shift()?.resolve(answer);
  }

  /** A question that Python cannot take: ask a fresh Python once, as the old one may have been the reason. */
  refuse() {
    const [question] = this.waiting;
    if (question?.refused) {
      this.settle(null);
      this.send();
      return;
    }
    if (question) question.refused = true;
    this.again();
  }

  /** The worker is gone or silent. One that never lived cannot live here: then Python moves to the page. */
  lost(born) {
    if (!born && !this.inPage) this.inPage = true;
    else this.deaths += 1;
    if (this.deaths >= DEATHS) this.fail("python: died too often");
    else this.again();
  }

  again() {
    this.watch(0);
    this.become("starting", "start");
    this.spawn();
  }

  async fail(_why) {
    this.watch(0);
    this.host?.end();
    this.host = null;
    this.parts = null; // what was loaded may be what is wrong
    await forget();
    this.become("failed");
    for (const question of this.waiting.splice(0)) question.resolve(null);
  }

  /** Send the first question, unless it is on its way: becoming ready makes the page ask at once. */
  send() {
    if (this.state !== "ready" || !this.waiting.length || this.asked === this.waiting[0]) return;
    this.asked = this.waiting[0];
    this.host.post({ type: "ask", id: 0, text: this.waiting[0].text });
    this.watch(PATIENCE * 2 ** this.deaths);
  }

  /** Expect a sign of life within so many milliseconds; 0 expects none. Twice, for a page that slept meanwhile. */
  watch(patience, twice = true) {
    clearTimeout(this.clock);
    if (!patience || this.inPage) return;
    this.clock = setTimeout(() => (twice ? this.watch(patience / 2, false) : this.lost(true)), patience);
  }
}

/** Where Python is: it takes messages by post(), and gives them to onMessage; onLost(born) tells of its end. */
class Host {
  begun = false; // whether it has been told to start
  onMessage = (_data) => {};
  onLost = (_born) => {};
  begin() {}
  end() {}
}

/** A worker. */
class WorkerHost extends Host {
  born = false; // whether it has ever spoken
  worker = null;

  begin() {
    try {
      this.worker = new Worker(trusted(new URL("./worker.mjs", import.meta.url).href), { type: "module" });
    } catch {
      queueMicrotask(() => this.onLost(false));
      return;
    }
    this.worker.onmessage = ({ data }) => {
      this.born = true;
      this.onMessage(data);
    };
    this.worker.onmessageerror = () => this.onLost(this.born);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.onLost(this.born);
    };
  }

  post(message) {
    this.worker?.postMessage(message);
  }

  end() {
    this.worker?.terminate();
  }
}

/** The page itself, with the same messages. */
class PageHost extends Host {
  python = null;

  async post(message) {
    const reply = await this.reply(message);
    if (reply) this.onMessage(reply);
  }

  async reply({ type, wasm: module = null, image: buffer = null, text = "", texts = [] }) {
    try {
      if (type === "start") {
        const { start } = await import("./python.mjs");
        this.python = await start(module, buffer);
        return { type: "ready", plain: this.python.plain };
      }
      if (type === "rest") {
        for (const practice of texts) this.python.respond(practice);
        return null;
      }
      await Promise.resolve(); // an answer never comes before the asking is over
      return { type: "answer", text: this.python.respond(text) };
    } catch (error) {
      return type === "start" ? { type: "failed", why: String(error) } : { type: "refused" };
    }
  }
}

/** Where a page demands trusted types, the worker's address is one that we vouch for. */
const policy = globalThis.trustedTypes?.createPolicy("lesson-worker", { createScriptURL: (address) => address });
const trusted = (url) => (policy ? policy.createScriptURL(url) : url);
