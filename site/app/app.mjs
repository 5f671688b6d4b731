// The page's script: it starts Python, carries actions to it, and lays its answers into the page.
import { option } from "./address.mjs";
import { Controls } from "./controls.mjs";
import { copyLink } from "./copy.mjs";
import { Frames } from "./frames.mjs";
import { Interpreter } from "./interpreter.mjs";
import { addKeys } from "./keys.mjs";
import { Player } from "./player.mjs";
import { Progress } from "./progress.mjs";
import { Scene } from "./scene.mjs";
import { Trail } from "./trail.mjs";

const PRACTICE = 24; // questions for an idle Python; some browsers are slow with the first ones
const html = document.documentElement;
const still = option(location.search, "freeze") === "1";
dress();

/** @type {() => void} */
let laidOut;
const layout = new Promise((resolve) => {
  laidOut = () => resolve(undefined);
});
const progress = new Progress();
const interpreter = new Interpreter({
  onBytes: (count) => progress.count(count),
  onStage: (stage) => progress.stage(stage),
  onReady: ready,
  onFailed: () => progress.state("failed"),
});
const atOnce = html.dataset.page !== "embed";
if (atOnce) begin(); // its files come while the page is still being read
else progress.state("idle");

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
  copyLink: (scene, button) => copyLink(scene, page.prefixed, button),
  retry: begin,
});
addKeys();
addEventListener("popstate", ({ state }) => {
  player.stopAll();
  for (const scene of scenes) scene.revisit(state?.past?.[scene.name]);
});
for (const scene of scenes) {
  scene.past = history.state?.past?.[scene.name] ?? [];
  frames.load(scene.name).then(() => scene.go());
}
if (!atOnce) beginWhenSeen();
progress.show();
laidOut();

/** What the address says about the looks of the page. */
function dress() {
  const theme = option(location.search, "theme");
  if (theme === "light" || theme === "dark") html.dataset.theme = theme;
  html.classList.toggle("is-frozen", still);
}

function begin() {
  if (html.dataset.python === "ready") return;
  progress.state("loading");
  interpreter.start();
}

function beginWhenSeen() {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    begin();
  });
  for (const root of roots) observer.observe(root);
}

/** Python is there: compute all scenes again, what the reader sees first. */
async function ready() {
  await layout;
  if (html.dataset.python === "ready") return;
  progress.stage("compute");
  const height = innerHeight;
  const inView = ({ root }) => {
    const box = root.getBoundingClientRect();
    return box.bottom > 0 && box.top < height;
  };
  const order = [...scenes.filter(inView), ...scenes.filter((scene) => !inView(scene))];
  await Promise.all(order.map((scene) => scene.becomeLive()));
  if (interpreter.state !== "ready") return;
  progress.state("ready");
  (globalThis.requestIdleCallback ?? setTimeout)(() => void interpreter.rest(practice()));
}

/** Questions whose answers nobody needs. */
function practice() {
  const ask = ({ name, query }) => ({ scene: name, query, action: null, past: true, computed: "live" });
  return Array.from({ length: PRACTICE }, (_, k) => ask(scenes[k % scenes.length]));
}
