// The browser's own history: a settled action is an entry of its own, what happens while dragging or playing is not.
// Browsers limit how often this may be done, and some pages may not do it at all: what is too much waits, and is joined.

const WINDOW = 10000; // ms
const MOST = 60; // entries or changes within the window; browsers begin to refuse at 100 to 200
const DRAFTS = 30; // of them while dragging or playing, so that there is room for what it comes to

export class Trail {
  constructor() {
    this.times = [];
    this.before = null; // the entry as it was before a drag or playing, while that is going on
    this.late = 0;
    this.owed = []; // what could not be written yet: [how, address, memory], two at the most
    recover();
    addEventListener("pagehide", () => this.close());
  }

  /** The address as it is, or will be once the browser takes it. */
  get address() {
    return new URL(this.entry[0], location.href);
  }

  /** The address and the memory of the entry, as they are or will be. */
  get entry() {
    return this.owed.at(-1)?.slice(1) ?? [location.href, history.state];
  }

  /** Go on within the entry: a drag, or playing. */
  draft(address, memory) {
    this.before ??= this.entry;
    this.put([["replaceState", address, memory]], DRAFTS);
  }

  /** An action is settled: the entry becomes what it was before, and a new one follows. */
  settle(address, memory) {
    const before = this.before ? [["replaceState", ...this.before]] : [];
    this.before = null;
    this.put([...before, ["pushState", address, memory]]);
  }

  /** Playing is over: where it led is an entry of its own. */
  rest(memory) {
    if (this.before) this.settle(this.address.href, memory);
  }

  /** Give the entry that is there its memory. */
  remember(memory) {
    this.put([["replaceState", this.address.href, memory]]);
  }

  /** The reader has gone to another entry: nothing that belongs to the one before may be written there. */
  leave() {
    clearTimeout(this.late);
    this.owed = [];
    this.before = null;
  }

  /** The page goes: write what waits, and note it, as a page that is being loaded again may not be told any more. */
  close() {
    if (!this.owed.length) return;
    note([location.href, this.address.href]);
    this.pay(Infinity);
  }

  put(steps, most = MOST) {
    for (const step of steps) this.owe(step);
    this.pay(most);
  }

  /** A change of an entry takes the place of what waits for it; of two new entries the later one is kept. */
  owe([how, address, memory]) {
    const last = this.owed.at(-1);
    if (last && (how === "replaceState" || how === last[0])) last.splice(1, 2, address, memory);
    else this.owed.push([how, address, memory]);
  }

  pay(most) {
    clearTimeout(this.late);
    const now = Date.now();
    this.times = this.times.filter((time) => time > now - WINDOW);
    if (this.times.length + this.owed.length > most) {
      this.late = setTimeout(() => this.pay(MOST), WINDOW / 10);
      return;
    }
    for (const [how, address, memory] of this.owed.splice(0)) {
      this.times.push(now);
      try {
        history[how](memory, "", address);
      } catch {
        // a frame without an origin has no addresses to write
      }
    }
  }
}

const NOTE = "lesson-address"; // from where to where the address was to go when the page went

function note(pair) {
  try {
    sessionStorage.setItem(NOTE, JSON.stringify(pair));
  } catch {
    // no storage here
  }
}

/** A page that is loaded again, or come back to, where its last address did not get through. */
function recover() {
  try {
    const [from, to] = JSON.parse(sessionStorage.getItem(NOTE) ?? "[]");
    sessionStorage.removeItem(NOTE);
    const [visit] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    if (from === location.href && visit.type !== "navigate") history.replaceState(history.state, "", to);
  } catch {
    // no storage here
  }
}
