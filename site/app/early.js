// The first script of every page, and the only one that the page waits for: it sets Python going in a worker of its own
// before the page is laid out. app.mjs takes over. A page of one scene waits until it is seen, and starts Python then.
// A page that is come back to, or opened at a place within it, is laid out whole: browsers find both by the distance from
// the top.
{
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  document.documentElement.classList.toggle("is-whole", visit?.type !== "navigate" || location.hash !== "");
  const early = { worker: null, events: [] };
  const note = (event) => early.events?.push(event);
  const start = (address) => {
    const policy = globalThis.trustedTypes?.createPolicy("lesson-early", { createScriptURL: (url) => url });
    early.worker = new Worker(policy ? policy.createScriptURL(address) : address, { type: "module" });
    for (const type of ["message", "messageerror", "error"]) early.worker.addEventListener(type, note);
  };
  try {
    if (document.documentElement.dataset.page !== "embed") start(new URL("./worker.mjs", /** @type {HTMLScriptElement} */ (document.currentScript).src).href);
  } catch {
    // app.mjs will find that no worker can start here
  }
  globalThis.lessonEarly = early;
}
