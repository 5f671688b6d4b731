// How far the start of Python is: told to the styles by attributes of <html>, and to the reader by what templates offer.
import { total } from "./interpreter.mjs";

const page = document.documentElement;

export class Progress {
  constructor() {
    this.bytes = 0;
  }

  /** idle, loading, ready or failed. */
  state(state) {
    page.dataset.python = state;
    if (state === "loading") this.bytes = 0;
    else delete page.dataset.bootStage;
    this.show();
  }

  /** fetch, start or compute; a Python that is started again behind the page's back is nobody's concern. */
  stage(stage) {
    if (page.dataset.python !== "loading") return;
    page.dataset.bootStage = stage;
    this.show();
  }

  /** Bring what the page has for it up to date. */
  show() {
    const { python, bootStage } = page.dataset;
    for (const bar of all("[data-boot-progress]")) bar.hidden = python !== "loading";
    for (const message of all("[data-boot-message]")) message.hidden = python !== "failed";
    for (const part of all("body [data-boot-stage]")) part.hidden = part.dataset.bootStage !== bootStage;
  }

  /** Some more bytes have come. */
  count(bytes) {
    this.bytes = Math.min(this.bytes + bytes, total);
    for (const bar of all("progress[data-boot-progress]")) Object.assign(bar, { max: total, value: this.bytes });
    for (const text of all("[data-boot-bytes]")) text.textContent = `${mega(this.bytes)} / ${mega(total)}`;
  }
}

const all = (selector) => document.querySelectorAll(selector);
const mega = (bytes) => (bytes / 1e6).toFixed(1);
