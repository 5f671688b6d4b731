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
    else if (!this.still) this.play(scene, button.dataset);
  }

  /** Do `step` again and again; from `first` on when there is no further step to begin with. */
  async play(scene, { step, first = "", arg = "", pace = "800" }) {
    const turn = Symbol(scene.name);
    this.playing.set(scene, turn);
    this.seen.observe(scene.root);
    mark(scene, true);
    let going = true;
    let start = first;
    while (going) {
      going = await scene.act({ name: step, arg, value: "" }, "play");
      if (!going && start) going = await scene.act({ name: start, arg, value: "" }, "play");
      start = "";
      if (going) await new Promise((resolve) => setTimeout(resolve, Number(pace)));
      if (this.playing.get(scene) !== turn) return;
    }
    this.stop(scene);
  }

  stop(scene) {
    if (!this.playing.delete(scene)) return;
    this.seen.unobserve(scene.root);
    mark(scene, false);
    scene.rested();
  }

  stopAll() {
    for (const scene of [...this.playing.keys()]) this.stop(scene);
  }

  stopRoot(root) {
    for (const scene of [...this.playing.keys()]) if (scene.root === root) this.stop(scene);
  }
}

function mark(scene, playing) {
  scene.root.toggleAttribute("data-playing", playing);
  for (const button of scene.root.querySelectorAll("[data-action=play]")) {
    button.setAttribute("aria-pressed", String(playing));
  }
}
