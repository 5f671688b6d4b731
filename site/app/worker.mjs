// Python in a worker. It loads all by itself, off the page's thread; one that is started again is given what the first
// one had loaded.
//
// In: {type: "start", parts} to one called "again", {type: "ask", text}, {type: "rest", texts}.
// Out: {type: "beat"} as long as it starts, {type: "bytes", count}, {type: "ready"}, {type: "answer", text},
// {type: "refused"}, {type: "failed"}, and once it has rested {type: "parts", parts}, for another one.

import { keepParts, load } from "./parts.mjs";

const BEAT = 2000; // ms
const beating = setInterval(() => postMessage({ type: "beat" }), BEAT);
const library = import("./python.mjs");
import("./pyodide.asm.mjs").catch(() => {}); // large, and needed by python.mjs: asked for before that has come
let given = (_parts) => {};
const parts = self.name === "again" ? new Promise((resolve) => (given = resolve)) : load(count);
const python = boot();

const acts = { start: (message) => given(message.parts), ask, rest };
addEventListener("message", ({ data }) => acts[data.type](data));

function count(bytes) {
  postMessage({ type: "bytes", count: bytes });
}

async function boot() {
  try {
    const [{ start }, { module, image }] = await Promise.all([library, parts]);
    postMessage({ type: "beat" });
    const started = await start(module, image);
    postMessage({ type: "ready" });
    return started;
  } catch {
    postMessage({ type: "failed" });
  } finally {
    clearInterval(beating);
  }
}

async function ask({ text }) {
  const { respond } = await python;
  try {
    postMessage({ type: "answer", text: respond(text) });
  } catch {
    postMessage({ type: "refused" });
  }
}

/** Nothing is to be done: answer some questions for practice, one at a time, keep what is loaded, get what is left. */
async function rest({ texts }) {
  const { respond, addLibrary } = await python;
  try {
    for (const text of texts) {
      respond(text);
      await new Promise((resolve) => setTimeout(resolve));
    }
    const had = await parts;
    if (self.name !== "again") postMessage({ type: "parts", parts: had });
    await addLibrary();
    await keepParts(had.image);
  } catch {
    // it was only practice
  }
}
