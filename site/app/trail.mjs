// The browser's own history: a settled action is an entry of its own, what happens while dragging or playing is not.
// Browsers limit how often this may be done, and some pages may not do it at all.

const WINDOW = 10000; // ms
const MOST = 60; // entries or changes within the window; browsers begin to refuse at 100 to 200

export class Trail {
  constructor() {
    this.times = [];
    this.before = null; // the entry as it was before a drag, while one is going on
    this.late = 0;
  }

  /** Go on within the entry: a drag, or playing. */
  draft(address, memory) {
    this.before ??= [location.href, history.state];
    this.put("replaceState", address, memory);
  }

  /** An action is settled: the entry becomes what it was before, and a new one follows. */
  settle(address, memory) {
    if (this.before) this.put("replaceState", this.before[0], this.before[1]);
    this.before = null;
    this.put("pushState", address, memory);
  }

  put(how, address, memory) {
    clearTimeout(this.late);
    const now = Date.now();
    this.times = this.times.filter((time) => time > now - WINDOW);
    if (this.times.length >= MOST) {
      this.late = setTimeout(() => this.put("replaceState", address, memory), WINDOW / 10);
      return;
    }
    this.times.push(now);
    try {
      history[how](memory, "", address);
    } catch {
      // a frame without an origin has no addresses to write
    }
  }
}
