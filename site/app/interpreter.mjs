// The reader's Python, wherever it runs: in a worker that is started again when it dies, or, where no worker can start
// (a sandboxed frame), on the page itself. One question at a time; what was asked of a dead worker is asked again.
import { PageHost, WorkerHost } from "./hosts.mjs";
import { total } from "./parts.mjs";
import { forget } from "./store.mjs";

const DEATHS = 3; // in a row, after which we give up
const PATIENCE = 4000; // ms for an answer; doubled with every death, so that a slow machine is not taken for a dead one
const START_PATIENCE = 20000; // ms between two signs of life while starting

export class Interpreter {
  constructor() {
    this.onChange = () => {}; // called after every change of state, stage or bytes
    this.state = "idle"; // idle, starting, ready, failed
    this.stage = ""; // fetch or start, while starting
    this.bytes = 0; // downloaded so far
    this.waiting = []; // questions, the first of which is being answered
    this.asked = false; // whether the first has been put to this Python
    this.deaths = 0;
    this.parts = null; // what a worker has loaded, for the next one
    this.host = null;
    this.inPage = false;
    this.clock = undefined;
  }

  /** Begin, or begin again after a failure. `early` is a worker that is on its way already, if there is one. */
  start(early = null) {
    if (this.state === "starting" || this.state === "ready") return;
    this.deaths = 0;
    this.bytes = 0;
    this.spawn("fetch", early);
  }

  /** Ask a question; resolves to the answer, or to null when Python refuses it twice or cannot be had. */
  ask(question) {
    return new Promise((resolve) => {
      this.waiting.push({ text: JSON.stringify(question), resolve, refused: false });
      if (this.waiting.length === 1) this.send();
    });
  }

  /** Let an idle Python practise with some questions, and do what can wait. */
  rest(questions) {
    this.host?.post({ type: "rest", texts: questions.map((question) => JSON.stringify(question)) });
  }

  become(state, stage = "") {
    this.state = state;
    this.stage = stage;
    this.onChange();
  }

  /** Start a Python, and forget the one before. */
  spawn(stage, early = null) {
    this.host?.end();
    const host = this.inPage ? new PageHost() : new WorkerHost(early);
    this.host = host;
    host.onMessage = (data) => host === this.host && this.heard(data);
    host.onLost = (born) => host === this.host && this.lost(born);
    this.asked = false;
    this.become("starting", stage);
    this.watch(START_PATIENCE);
    host.begin(this.parts);
  }

  heard(data) {
    if (data.type === "parts") this.parts = data.parts;
    else if (data.type === "bytes") this.count(data.count);
    else if (data.type === "beat") this.watch(this.state === "starting" ? START_PATIENCE : 0);
    else if (data.type === "failed") this.fail();
    else if (data.type === "refused") this.refuse();
    else if (data.type === "ready") this.begin();
    else this.settle(JSON.parse(data.text));
  }

  count(bytes) {
    this.bytes = Math.min(this.bytes + bytes, total);
    this.watch(START_PATIENCE);
    this.become("starting", this.bytes < total ? "fetch" : "start");
  }

  begin() {
    this.watch(0);
    this.become("ready");
    this.send();
  }

  settle(answer) {
    this.watch(0);
    this.deaths = 0;
    this.asked = false;
    this.waiting.shift()?.resolve(answer);
    this.send();
  }

  /** A question that Python cannot take: ask a fresh Python once, as the old one may have been the reason. */
  refuse() {
    const [question] = this.waiting;
    if (!question || question.refused) this.settle(null);
    else {
      question.refused = true;
      this.spawn("start");
    }
  }

  /** The worker is gone or silent. One that never lived cannot live here: then Python moves to the page. */
  lost(born) {
    if (!born && !this.inPage) this.inPage = true;
    else this.deaths += 1;
    if (this.deaths >= DEATHS) this.fail();
    else this.spawn("start");
  }

  async fail() {
    this.watch(0);
    this.host?.end();
    this.host = null;
    this.parts = null; // what was loaded may be what is wrong
    await forget();
    this.become("failed");
    for (const question of this.waiting.splice(0)) question.resolve(null);
  }

  send() {
    if (this.state !== "ready" || !this.waiting.length || this.asked) return;
    this.asked = true;
    this.host.post({ type: "ask", text: this.waiting[0].text });
    this.watch(PATIENCE * 2 ** this.deaths);
  }

  /** Expect a sign of life within so many milliseconds; 0 expects none. Twice, for a page that slept meanwhile. */
  watch(patience, twice = true) {
    clearTimeout(this.clock);
    if (!patience || this.inPage) return;
    this.clock = setTimeout(() => (twice ? this.watch(patience / 2, false) : this.lost(true)), patience);
  }
}
