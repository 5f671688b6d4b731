// Playing a scene: the same step again and again, at the pace that its button states, until nothing changes any more.
// Nothing plays in a hidden tab, off screen, or on a page that is to keep still.

export class Player {
  constructor({ still }) {
    this.still = still;
    this.playing = new Map(); // scene -> the time of its next step
    document.addEventListener("visibilitychange", () => document.hidden && this.stopAll());
    this.seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (!entry.isIntersecting) this.stopRoot(entry.target);
    });
  }

  toggle(scene, button) {
    if (this.playing.has(scene)) this.stop(scene);
    else if (!this.still && scene.page.interpreter.state !== "failed") this.play(scene, button.dataset);
  }

  /** Do `step` again and again; from `first` on in a scene that nobody touched yet, and where no step is left. */
  async play(scene, { step, first = "", arg = "", pace = "800" }) {
    const turn = Symbol(scene.name);
    this.playing.set(scene, turn);
    this.seen.observe(scene.root);
    mark(scene, true);
    const ours = () => this.playing.get(scene) === turn;
    const move = (name) => scene.act({ name, arg, value: "" }, "play");
    let going = await move(first && scene.untouched() ? first : step);
    if (!going && first && ours()) going = await move(first);
    while (going && ours()) {
      await new Promise((resolve) => setTimeout(resolve, Number(pace) * drawnOut(scene)));
      if (ours()) going = await move(step);
    }
    if (ours()) this.stop(scene);
  }

  stop(scene) {
    if (!this.playing.delete(scene)) return;
    this.seen.unobserve(scene.root);
    mark(scene, false);
    scene.rest();
  }

  stopAll() {
    for (const scene of [...this.playing.keys()]) this.stop(scene);
  }

  stopRoot(root) {
    for (const scene of [...this.playing.keys()]) if (scene.root === root) this.stop(scene);
  }
}

/** How much slower than its pace the reader wants it; that is asked anew for every step. */
const drawnOut = ({ root }) => Number(root.querySelector("[data-action=speed]")?.value ?? 1);

function mark(scene, playing) {
  scene.root.toggleAttribute("data-playing", playing);
  for (const button of scene.root.querySelectorAll("[data-action=play]")) {
    button.setAttribute("aria-pressed", String(playing));
  }
}
