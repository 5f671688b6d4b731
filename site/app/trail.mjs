// The browser's own history: a settled action is an entry of its own, what happens while dragging or playing is not.
// Browsers limit how often this may be done, and some pages may not do it at all.

const WINDOW = 10000; // ms
const MOST = 60; // entries or changes within the window; browsers begin to refuse at 100 to 200

export class Trail {
  constructor() {
    this.times = [];
    this.before = null; // the entry as it was before a drag or playing, while that is going on
    this.late = 0;
    this.owed = null; // the address and its memory that could not be written yet
  }

  /** The address as it is, or will be once the browser takes it. */
  get address() {
    return new URL(this.owed?.[0] ?? location.href, location.href);
  }

  /** Go on within the entry: a drag, or playing. */
  draft(address, memory) {
    this.before ??= this.owed ?? [location.href, history.state];
    this.put("replaceState", address, memory);
  }

  /** An action is settled: the entry becomes what it was before, and a new one follows. */
  settle(address, memory) {
    if (this.before) this.put("replaceState", this.before[0], this.before[1]);
    this.before = null;
    this.put("pushState", address, memory);
  }

  /** Playing is over: where it led is an entry of its own. */
  rest(memory) {
    if (this.before) this.settle(this.address.href, memory);
  }

  /** The reader has gone to another entry: nothing that belongs to the one before may be written there. */
  leave() {
    clearTimeout(this.late);
    this.owed = null;
    this.before = null;
  }

  put(how, address, memory) {
    clearTimeout(this.late);
    const now = Date.now();
    this.times = this.times.filter((time) => time > now - WINDOW);
    if (this.times.length >= MOST) {
      this.owed = [address, memory];
      this.late = setTimeout(() => this.put("replaceState", address, memory), WINDOW / 10);
      return;
    }
    this.owed = null;
    this.times.push(now);
    try {
      history[how](memory, "", address);
    } catch {
      // a frame without an origin has no addresses to write
    }
  }
}
