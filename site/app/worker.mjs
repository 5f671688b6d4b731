// Python in a worker. In: {type: "start", wasm, image}, {type: "ask", id, text}, {type: "rest", texts}.
// Out: {type: "beat"} while it starts, {type: "ready", plain}, {type: "answer", id, text}, {type: "refused", id},
// {type: "failed", why}.
import "./pyodide.asm.mjs"; // the largest of all: named here so that it is asked for first
import { start } from "./python.mjs";

let python;

const answers = {
  async start({ wasm, image }) {
    try {
      python = await start(wasm, image, () => postMessage({ type: "beat" }));
      postMessage({ type: "ready", plain: python.plain });
    } catch (error) {
      postMessage({ type: "failed", why: String(error) });
    }
  },

  ask({ id, text }) {
    try {
      postMessage({ type: "answer", id, text: python.respond(text) });
    } catch {
      postMessage({ type: "refused", id });
    }
  },

  /** Nothing is to be done: answer some questions for practice, one at a time, and fetch the rest of the library. */
  async rest({ texts }) {
    try {
      for (const text of texts) {
        python.respond(text);
        await new Promise((resolve) => setTimeout(resolve));
      }
      await python.addLibrary();
    } catch {
      // it was only practice
    }
  },
};

addEventListener("message", ({ data }) => answers[data.type](data));
postMessage({ type: "beat" });
