// How far the start of Python is: told to the styles by attributes of <html>, and to the reader by what templates offer.
import { total } from "./parts.mjs";

const page = document.documentElement;

/** Show a state (idle, loading, ready, failed), the stage of loading (fetch, start, compute), and the bytes so far. */
export function show(state, stage, bytes) {
  page.dataset.python = state;
  if (stage) page.dataset.bootStage = stage;
  else delete page.dataset.bootStage;
  for (const bar of all("[data-boot-progress]")) {
    bar.hidden = state !== "loading";
    if (bar instanceof HTMLProgressElement) Object.assign(bar, { max: total, value: bytes });
  }
  for (const text of all("[data-boot-bytes]")) text.textContent = `${mega(bytes)} / ${mega(total)}`;
  for (const message of all("[data-boot-message]")) message.hidden = state !== "failed";
  for (const part of all("body [data-boot-stage]")) part.hidden = part.dataset.bootStage !== stage;
}

/** @type {(selector: string) => NodeListOf<HTMLElement>} */
const all = (selector) => document.querySelectorAll(selector);
const mega = (bytes) => (bytes / 1e6).toFixed(1);
