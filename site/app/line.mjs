// The line of stops at the top: the stop whose chapter is being read is the current one.

const READING = 0.4; // of the window's height: a chapter whose heading is above this is being read

export function followReader() {
  const links = [...document.querySelectorAll("nav.line a[href^='#']")];
  const stops = links.map((link) => ({ link, target: document.getElementById(link.getAttribute("href").slice(1)) }));
  const known = stops.filter(({ target }) => target);
  if (!known.length) return;
  const observer = new IntersectionObserver(() => mark(known), {
    rootMargin: `0px 0px -${100 - READING * 100}% 0px`,
  });
  for (const { target } of known) observer.observe(target);
}

function mark(stops) {
  const passed = stops.filter(({ target }) => target.getBoundingClientRect().top < innerHeight * READING);
  const { link: current } = passed.at(-1) ?? stops[0];
  if (current.hasAttribute("aria-current")) return;
  for (const { link } of stops) link.toggleAttribute("aria-current", false);
  current.setAttribute("aria-current", "true");
  const row = current.closest("ol");
  row.scrollTo({ left: current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2 });
}
