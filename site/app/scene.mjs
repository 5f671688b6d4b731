// One scene of the page: what it shows, what is waiting to be asked, and the way back.
//
// Python keeps nothing between two questions, so all that a scene is stands here: the query on show, the earlier
// queries, and the actions still to be done. One question is under way at a time; of a drag only the latest value counts.
import * as address from "./address.mjs";
import { follow } from "./follow.mjs";
import { flash, glide, places } from "./glide.mjs";
import { hush } from "./hush.mjs";
import { confirm, morph } from "./morph.mjs";

const FARTHEST = 100; // steps back that are remembered
const PILE = 12; // actions that may wait before a key held down on a field counts as a drag

/** Whether a job is one of many in a row, of which only the last one stays. */
const passing = ({ how }) => how === "drag" || how === "play";

/** Whether a field's next action makes the one before pointless: while it is dragged, or when answers come too late. */
const overtaken = (before, { name, arg }, late) =>
  (before.how === "drag" || (late && before.how === "field")) && before.action.name === name && before.action.arg === arg;

export class Scene {
  /** root: the scene's element; page: { interpreter, frames, trail, prefixed, editing() } */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.name = root.dataset.scene;
    this.query = root.dataset.state; // what is shown
    this.keys = new Set(address.keys(this.query));
    this.live = false;
    this.busy = false;
    this.job = null; // the one that is being asked
    this.waiting = [];
    this.past = [];
    this.dragged = undefined; // the state before a drag, while one is going on
    this.onLive = undefined;
    this.last = null; // the question whose answer is shown, to be asked again once Python is there
    this.addressed = this.inAddress();
    this.raw = this.addressed || null; // what the address asks for and is not shown yet
    this.shownAddress = this.addressed;
  }

  inAddress() {
    return address.read(location.search, this.name, this.page.prefixed);
  }

  /**
   * Do an action; `how` is "settled", "field" (settled too, by a field's new value), "drag" or "play". Resolves to
   * whether the state changed.
   */
  act(action, how = "settled") {
    const late = how === "field" && this.waiting.length > PILE;
    while (this.waiting.length && overtaken(this.waiting.at(-1), action, late)) this.waiting.pop().resolve(false);
    return this.enqueue({ action, how });
  }

  /** Show the state before the last change. */
  back() {
    if (!this.past.length && !this.waiting.length && !this.busy) return Promise.resolve(false);
    return this.enqueue({ action: null, how: "back" });
  }

  /** Whether it stands as it was when the page was made. */
  untouched() {
    return !this.past.length && !this.addressed;
  }

  /** Be computed by the Python of this page; resolves when that has been shown. */
  becomeLive() {
    this.live = false;
    return new Promise((resolve) => {
      this.onLive = () => resolve(undefined);
      this.go();
    });
  }

  /** Playing is over, at what is on show: steps not yet answered are not taken. */
  rest() {
    this.withdraw(({ how }) => how === "play");
    this.page.trail.rest(this.page.memory());
  }

  /** Take back jobs; the answer to one that is being asked will be let fall. */
  withdraw(which) {
    for (const job of this.waiting.filter(which)) job.resolve(false);
    this.waiting = this.waiting.filter((job) => !which(job));
    if (this.job && which(this.job)) this.job.withdrawn = true;
  }

  enqueue(job) {
    return new Promise((resolve) => {
      this.waiting.push({ ...job, resolve });
      this.go();
    });
  }

  /** The address was changed by the browser's back, forward, or by hand: show what it says. */
  revisit(past) {
    this.past = past ?? this.past;
    this.dragged = undefined;
    const found = this.inAddress();
    if (found === this.addressed) {
      this.offerBack(this.past.length > 0);
      return;
    }
    this.withdraw(() => true);
    this.raw = found;
    this.addressed = found;
    this.live = false;
    this.last = null;
    this.go();
  }

  /** Go on with what is waiting, as far as that is possible now. */
  go() {
    if (this.busy) return;
    if (this.page.interpreter.state === "ready") this.goLive();
    else this.goByFrames();
  }

  goByFrames() {
    if (this.raw !== null) {
      const answer = this.page.frames.showing(this.name, this.raw);
      if (!answer) return;
      this.show(answer, null);
    }
    while (this.waiting.length && this.waiting[0].action) {
      const [job] = this.waiting;
      const answer = this.page.frames.find(this.name, this.query, job.action);
      if (!answer) return;
      this.waiting.shift();
      this.live = false;
      this.show(answer, { ...job, before: this.query });
    }
  }

  async goLive() {
    const job = this.live ? this.waiting.shift() : null;
    if (this.live && !job) return;
    this.busy = true;
    this.job = job;
    const question = job ? this.question(job) : this.again();
    const before = this.query;
    const answer = await this.page.interpreter.ask(question);
    this.busy = false;
    this.job = null;
    if (job?.withdrawn) job.resolve(false);
    else if (answer) this.take(answer, job, question, before);
    else if (this.page.interpreter.state === "ready") this.giveUp(job);
    else if (job) this.waiting.unshift(job); // it will be asked when Python is there again
    this.go();
    this.onLive?.();
  }

  take(answer, job, question, before) {
    if (!job && this.raw !== null && question.query !== this.raw) return; // the address changed meanwhile
    this.live = true;
    if (job?.how === "back") this.past.pop();
    this.show(answer, job && { ...job, before });
  }

  /** Python refuses this even when it is fresh: stay with what is shown. */
  giveUp(job) {
    if (!job) this.live = true;
    job?.resolve(false);
  }

  question({ action, how }) {
    const back = how === "back";
    const query = back ? (this.past.at(-1) ?? this.query) : this.query;
    return { scene: this.name, query, action, past: back ? this.past.length > 1 : true, computed: "live" };
  }

  /** What is shown, or what the address asks for, as a question: with the action that led to it. */
  again() {
    const { query, action } = this.raw === null && this.last ? this.last : { query: this.raw ?? this.query, action: null };
    return { scene: this.name, query, action, past: this.past.length > 0, computed: "live" };
  }

  show(answer, job) {
    const changed = answer.query !== this.query;
    this.raw = null;
    this.query = answer.query;
    this.shownAddress = answer.address;
    for (const key of address.keys(answer.query)) this.keys.add(key);
    if (job) this.last = { query: job.action ? job.before : answer.query, action: job.action };
    if (job?.action && changed) this.remember(job);
    if (job && passing(job)) hush(this.root.querySelector("[role=status]"));
    if (job || !confirm(this.root, answer.html)) this.lay(answer.html, job?.how !== "drag");
    follow(this.root);
    this.correctBack();
    this.figures(answer.quantities);
    if (job) this.write(answer, job, changed);
    if (job || changed) this.tell(answer);
    job?.resolve(changed);
  }

  lay(html, moves) {
    const before = moves ? places(this.root) : new Map();
    morph(this.root, html, this.editing());
    glide(this.root, before);
  }

  /** The field that keeps its value: one being changed, or one whose next change is waiting already (a key held down). */
  editing() {
    const active = document.activeElement;
    return this.waiting.length && active?.matches("input, select") ? active : this.page.editing();
  }

  /** One step back for a whole drag, one for every other action. */
  remember({ how, before }) {
    if (how === "drag") this.dragged ??= before;
    else {
      this.past.push(this.dragged ?? before);
      this.dragged = undefined;
    }
    if (this.past.length > FARTHEST) this.past.shift();
  }

  /** The fragment of an action counts on a way back; where the first action changed nothing there is none. */
  correctBack() {
    if (!this.past.length) this.offerBack(false);
  }

  /** As the templates do it: a button that has the focus keeps it. */
  offerBack(can) {
    for (const button of this.root.querySelectorAll("button[data-action=back]")) {
      if (can) button.removeAttribute("aria-disabled");
      else button.setAttribute("aria-disabled", "true");
    }
  }

  /** Figures in the prose follow the scene; words that stand only while there is a figure (data-while) go with it. */
  figures(quantities) {
    for (const element of document.querySelectorAll(`[data-of="${this.name}"][data-quantity]`)) {
      const figure = quantities[element.getAttribute("data-quantity")];
      element.closest("[data-while]")?.toggleAttribute("hidden", figure === undefined);
      if (figure === undefined || element.textContent === figure) continue;
      element.textContent = figure;
      flash(element);
    }
  }

  write(answer, { how }, changed) {
    const settled = !passing({ how });
    if (settled && this.dragged !== undefined) {
      this.past.push(this.dragged); // the drag ended where its last value had led already
      this.dragged = undefined;
      this.offerBack(true);
    } else if (!changed) return;
    this.addressed = answer.address;
    const search = address.written(this.page.trail.address.search, this.name, this.page.prefixed, answer.address, this.keys);
    const hash = this.page.prefixed ? `#${this.name}` : location.hash;
    this.page.trail[settled ? "settle" : "draft"](location.pathname + search + hash, this.page.memory());
  }

  tell(answer) {
    const detail = { scene: this.name, state: answer.query, quantities: answer.quantities };
    this.root.dispatchEvent(new CustomEvent("lesson:change", { bubbles: true, detail }));
  }
}
