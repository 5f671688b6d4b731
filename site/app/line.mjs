// The line of stops at the top: the stop whose chapter is being read is the current one.

const READING = 0.4; // of the window's height: a chapter whose heading is above this is being read

export function followReader() {
  const links = [...document.querySelectorAll("nav.line a[href^='#']")];
  const stops = links.map((link) => ({ link, target: document.getElementById(link.getAttribute("href").slice(1)) }));
  const known = stops.filter(({ target }) => target);
  if (!known.length) return;
  let due = 0;
  const look = () => {
    if (!due) due = requestAnimationFrame(() => {
      due = 0;
      mark(known);
    });
  };
  addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(document.body); // parts are laid out when they come near; it also looks at once
}

function mark(stops) {
  const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
  const passed = stops.filter(({ target }) => target.getBoundingClientRect().top < innerHeight * READING);
  const isEnd = scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 2;
  const { link: current } = (isEnd ? stops : passed).at(-1) ?? stops[0];
  if (current.hasAttribute("aria-current")) return;
  for (const { link } of stops) link.toggleAttribute("aria-current", false);
  current.setAttribute("aria-current", "true");
  const row = current.closest("ol");
  row.scrollTo({ left: current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2 });
}
