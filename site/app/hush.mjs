// What changes many times a second, while the reader drags or plays, is read out to those who listen when it rests.

const REST = 500; // ms
const clocks = new WeakMap();

/** The sentence in `status` is about to change, and will again soon. */
export function hush(status) {
  clearTimeout(clocks.get(status));
  status.setAttribute("aria-busy", "true");
  clocks.set(status, setTimeout(() => status.removeAttribute("aria-busy"), REST));
}
