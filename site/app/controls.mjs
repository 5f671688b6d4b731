// From what the reader does to actions: every control says with data-action what it stands for.
//
// Buttons act when they are pressed, ranges while they are dragged and when they are let go, all others when they have
// changed. A few actions belong to the page and not to a scene: back, play, speed, copy-link, retry.

export class Controls {
  /** page: { scene(element), player, copyLink(scene, button), retry(), leaving() } */
  constructor(page) {
    this.page = page;
    this.field = null; // the field that the reader is in the middle of changing
    document.addEventListener("click", (event) => this.clicked(event));
    document.addEventListener("input", (event) => this.changing(event));
    document.addEventListener("change", (event) => this.changed(event));
    document.addEventListener("focusout", () => {
      this.field = null;
    });
  }

  clicked(event) {
    if (event.target.closest?.("a[href^='#']")) this.page.leaving();
    const button = event.target.closest?.("button[data-action]");
    if (!button || button.disabled) return;
    const name = button.dataset.action;
    if (name === "retry") this.page.retry();
    const scene = this.page.scene(button);
    if (!scene) return;
    if (name === "play") this.page.player.toggle(scene, button);
    else this.pressed(scene, button, name);
  }

  pressed(scene, button, name) {
    if (name === "copy-link") {
      this.page.copyLink(scene, button);
      return;
    }
    this.page.player.stop(scene);
    if (name === "back") scene.back();
    else scene.act(action(button));
  }

  changing({ target }) {
    if (!target.dataset?.action) return;
    this.field = target;
    if (target.type === "range") this.act(target, "drag");
  }

  changed({ target }) {
    if (!target.dataset?.action || target.tagName === "BUTTON") return;
    this.field = null;
    this.act(target, "field");
  }

  act(field, how) {
    const scene = this.page.scene(field);
    if (!scene || field.dataset.action === "speed") return; // the player looks at it
    this.page.player.stop(scene);
    scene.act(action(field), how);
  }
}

const action = ({ dataset, value }) => ({ name: dataset.action, arg: dataset.arg ?? "", value: value ?? "" });
