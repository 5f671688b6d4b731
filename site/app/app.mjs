// The page's script: it carries actions to Python, and lays its answers into the page.
import { option } from "./address.mjs";
import { Controls } from "./controls.mjs";
import { copyLink } from "./copy.mjs";
import { Frames } from "./frames.mjs";
import { Interpreter } from "./interpreter.mjs";
import { addKeys } from "./keys.mjs";
import { followReader } from "./line.mjs";
import { Player } from "./player.mjs";
import * as progress from "./progress.mjs";
import { Scene } from "./scene.mjs";
import { Trail } from "./trail.mjs";
import { layOut, layOutNow } from "./whole.mjs";

const PRACTICE = 24; // questions for an idle Python; some browsers are slow with the first ones
const html = document.documentElement;
const atOnce = html.dataset.page !== "embed";
const interpreter = new Interpreter();
const still = option(location.search, "freeze") === "1";
dress();
if (atOnce) interpreter.start(globalThis.lessonEarly);
showProgress();

if (document.readyState === "loading") await new Promise((go) => document.addEventListener("DOMContentLoaded", go));

const frames = new Frames();
const roots = [...document.querySelectorAll("[data-scene]")];
const page = {
  interpreter,
  frames,
  trail: new Trail(),
  prefixed: html.dataset.page === "lesson",
  editing: () => controls.field,
  memory: () => ({ past: Object.fromEntries(scenes.map((scene) => [scene.name, scene.past])) }),
};
const scenes = roots.map((root) => new Scene(root, page));
const player = new Player({ still });
const controls = new Controls({
  player,
  scene: (element) => {
    const name = element.closest("[data-scene]")?.dataset.scene ?? element.dataset.of;
    return scenes.find((scene) => scene.name === name);
  },
  copyLink: (scene, button) => copyLink(scene, page, button),
  retry: () => interpreter.start(),
  leaving,
});
addKeys();
followReader();
addEventListener("scroll", layOut, { once: true, passive: true }); // who reads on does not wait for Python
addEventListener("popstate", ({ state }) => {
  page.trail.leave();
  player.stopAll();
  for (const scene of scenes) scene.revisit(state?.past?.[scene.name]);
  remember();
});
for (const scene of scenes) {
  scene.past = history.state?.past?.[scene.name] ?? [];
  frames.load(scene.name).then(() => scene.go());
}
remember();
interpreter.onChange = changed;
changed();
if (!atOnce) startWhenSeen();

/** The reader follows a link within the page. Playing rests first: what it led to is an entry that Back returns to. */
function leaving() {
  player.stopAll();
  layOutNow();
}

/** What the address says about the looks of the page. */
function dress() {
  const theme = option(location.search, "theme");
  if (theme === "light" || theme === "dark") html.dataset.theme = theme;
  html.classList.toggle("is-frozen", still);
}

/** An entry of the browser's history that is not by an action, the first one or that of a link, gets its memory too. */
function remember() {
  if (!history.state) page.trail.remember(page.memory());
}

/** A page of one scene starts Python when it comes into view. */
function startWhenSeen() {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    interpreter.start();
  });
  for (const root of roots) observer.observe(root);
}

function showProgress(stage = interpreter.stage) {
  const states = { idle: "idle", starting: "loading", ready: "loading", failed: "failed" };
  progress.show(states[interpreter.state], stage, interpreter.bytes);
}

/** Python's state has changed. Once it is there the page stays ready: a worker that is started again is its own affair. */
function changed() {
  if (html.dataset.python === "ready" && interpreter.state !== "failed") {
    for (const scene of scenes) scene.go();
  } else if (interpreter.state === "ready") ready();
  else showProgress();
  if (interpreter.state === "failed") {
    player.stopAll();
    layOut();
  }
}

/** Python is there: compute all scenes again, what the reader sees first. */
async function ready() {
  showProgress("compute");
  const inView = ({ root }) => {
    const box = root.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  };
  const order = [...scenes.filter(inView), ...scenes.filter((scene) => !inView(scene))];
  await Promise.all(order.map((scene) => scene.becomeLive()));
  if (interpreter.state !== "ready" || html.dataset.python === "ready") return;
  progress.show("ready", "", interpreter.bytes);
  (globalThis.requestIdleCallback ?? setTimeout)(() => void interpreter.rest(practice()));
  layOut();
}

/** Questions whose answers nobody needs. */
function practice() {
  const ask = ({ name, query }) => ({ scene: name, query, action: null, past: true, computed: "live" });
  return Array.from({ length: PRACTICE }, (_, k) => ask(scenes[k % scenes.length]));
}
