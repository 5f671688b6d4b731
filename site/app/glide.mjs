// Motion says where things went: what carries the same data-moves before and after an answer glides from place to place.

const GLIDE = { duration: 450, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" };
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const isStill = () => calm.matches || document.hidden || document.documentElement.classList.contains("is-frozen");

/** Show that a figure in the prose has changed. */
export function flash(figure) {
  if (isStill()) return;
  figure.animate([{ background: "color-mix(in srgb, currentcolor 30%, transparent)" }, { background: "transparent" }], 1200);
}

/** Where everything that can move stands now, by its name; nothing where nothing is to move. */
export function places(root) {
  if (isStill()) return new Map();
  return new Map([...root.querySelectorAll("[data-moves]")].map((one) => [one.dataset.moves, centre(one)]));
}

/** Let everything that stands elsewhere than it did glide there. */
export function glide(root, before) {
  if (!before.size) return;
  for (const one of root.querySelectorAll("[data-moves]")) {
    const from = before.get(one.dataset.moves);
    if (!from) continue;
    for (const other of one.getAnimations()) other.cancel(); // it does not appear: it is known where it came from
    const to = centre(one);
    if (!to || Math.hypot(from.x - to.x, from.y - to.y) < 2) continue;
    one.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }], GLIDE);
  }
}

/** The middle of what is on the screen; nothing moves off it. */
function centre(one) {
  const { left, top, right, bottom } = one.getBoundingClientRect();
  const isSeen = right > left && bottom > 0 && top < innerHeight;
  return isSeen ? { x: (left + right) / 2, y: (top + bottom) / 2 } : null;
}
