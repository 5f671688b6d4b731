// What is far from the window is not laid out while Python starts. Once it is there, or once the reader goes on, all is, in
// idle time, part by part and without moving what is being read: browsers return to a place by its distance from the top,
// so that must not change later.

const PAUSE = 8; // ms that the browser must have left for one more part
const unhurried = (work) => setTimeout(() => work({ timeRemaining: () => 0 }), 30);
const idle = globalThis.requestIdleCallback ?? unhurried;

const page = document.documentElement;
const isWhole = () => page.classList.contains("is-whole");

let isGoing = false;

/** Begin, once. */
export function layOut() {
  if (isGoing) return;
  isGoing = true;
  const parts = [...document.querySelectorAll("main > *")];
  const go = (time) => {
    if (isWhole()) return;
    do lay(parts.shift());
    while (parts.length && time.timeRemaining() > PAUSE);
    if (parts.length) idle(go);
    else layOutNow();
  };
  idle(go);
}

/** Lay out all that is left, as before the reader follows a link within the page. */
export function layOutNow() {
  page.classList.add("is-whole");
}

/** Lay one part out. Browsers that do not hold the place themselves are helped. */
function lay(part) {
  const read = [...document.querySelectorAll("main > *")].find((one) => one.getBoundingClientRect().bottom > 0);
  const top = read?.getBoundingClientRect().top;
  part.toggleAttribute("data-laid", true);
  const moved = read ? read.getBoundingClientRect().top - top : 0;
  if (moved) scrollBy({ top: moved, behavior: "instant" });
}
