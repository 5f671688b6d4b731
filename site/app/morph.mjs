// Lay a fragment over what is shown: elements stay, and with them focus, selection, scroll and what the reader opened.
import { Idiomorph } from "./idiomorph.mjs";

/** Attributes that the page's script owns, and no fragment takes away, by the elements that have them. */
const KEPT = {
  open: "details",
  tabindex: "[data-cell]",
  "aria-pressed": "[data-action=play]",
  "data-playing": "[data-scene]",
};

const policy = globalThis.trustedTypes?.createPolicy("lesson-fragment", { createHTML: (html) => html });

/** Morph `root` into the fragment `html`; `editing` is the field that the reader is in the middle of changing. */
export function morph(root, html, editing) {
  Idiomorph.morph(root, parse(html), {
    morphStyle: "outerHTML",
    ignoreActiveValue: editing !== null && editing === document.activeElement,
    callbacks: { beforeAttributeUpdated: (name, element) => !(name in KEPT && element.matches(KEPT[name])) },
  });
}

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content.firstElementChild;
}
