// Answers to the usual next actions, made at build by the same Python, for the time before Python is there.
import { download } from "./download.mjs";
import { frames as urls } from "./runtime.mjs";

/** How the answer to an action in a state is called; scenes/stage.py names them. */
export const key = (scene, query, { name, arg, value }) => `${scene}?${query}!${name}|${arg}|${value}`;

export class Frames {
  constructor() {
    this.answers = new Map();
  }

  /** Fetch those of a scene. That they cannot be had is no failure: Python will answer. */
  async load(scene) {
    try {
      const answers = await (await download(urls[scene], "application/json")).json();
      for (const [name, answer] of Object.entries(answers)) this.answers.set(name, answer);
    } catch {
      // none, then
    }
  }

  /** The answer to an action, if it was made. */
  find(scene, query, action) {
    return this.answers.get(key(scene, query, action));
  }

  /** An answer that shows what an address asks for, if one was made. */
  showing(scene, address) {
    return [...this.answers.values()].find((answer) => answer.scene === scene && answer.address === address);
  }
}
