// Lay a fragment over what is shown: elements stay, and with them focus, selection, scroll and what the reader opened.
import { Idiomorph } from "./idiomorph.mjs";

/** Attributes that the page's script owns, and no fragment takes away, by the elements that have them. */
const KEPT = {
  open: "details",
  tabindex: "[data-cell]",
  "aria-busy": "[role=status]",
  "aria-pressed": "[data-action=play]",
  "data-playing": "[data-scene]",
  "data-laid": "[data-scene]",
};

const policy = globalThis.trustedTypes?.createPolicy("lesson-fragment", { createHTML: (html) => html });

/** What the reader sets and no fragment knows of. */
const OWN = "[data-action=speed]";

/** What holds state of the reader's; around it nothing is passed over. */
const HELD = "input, select, details";

/** Morph `root` into the fragment `html`; `editing` is the field that the reader is in the middle of changing. */
export function morph(root, html, editing) {
  const held = around(root.querySelectorAll(HELD));
  const focused = root.contains(document.activeElement) ? ancestry(document.activeElement, root) : [];
  Idiomorph.morph(root, parse(html), {
    morphStyle: "outerHTML",
    ignoreActiveValue: editing !== null && editing === document.activeElement,
    callbacks: {
      beforeNodeMorphed: (node, fresh) => (held.has(node) || !node.isEqualNode(fresh)) && !isOwn(node), // false: leave it
      beforeAttributeUpdated: (name, element) => !(name in KEPT && element.matches(KEPT[name])),
    },
  });
  if (focused.length && !root.contains(document.activeElement)) refocus(focused);
}

/** An element and what it lies in, up to the root. */
function ancestry(element, root) {
  const found = [];
  for (let one = element; one !== root.parentElement; one = one.parentElement) found.push(one);
  return found;
}

/** What had the focus is gone: the keyboard goes on from the nearest control of what is still there around it. */
function refocus(lost) {
  for (const around of lost.filter((one) => one.isConnected)) {
    const next = [...around.querySelectorAll("button, input, select, summary, [tabindex='0']")].find(isShown);
    if (!next) continue;
    next.focus({ preventScroll: true });
    return;
  }
}

const isShown = (element) => element.getClientRects().length > 0;

const isOwn = (node) => node.nodeType === Node.ELEMENT_NODE && node.matches(OWN);

/** These elements, and all that they lie in. */
function around(elements) {
  const found = new Set();
  for (let element of elements) for (; element && !found.has(element); element = element.parentElement) found.add(element);
  return found;
}

/**
 * Where the fragment says what is shown already, take over no more than the attributes of its root; returns whether it
 * does. A field that shows something else than its attributes, as browsers refill fields on a reload, is a difference.
 */
export function confirm(root, html) {
  const fresh = parse(html);
  const [shown, said] = [[...root.childNodes], [...fresh.childNodes]];
  if (shown.length !== said.length || !shown.every((node, k) => node.isEqualNode(said[k]))) return false;
  if ([...root.querySelectorAll("input, option")].some(refilled)) return false;
  for (const { name, value } of fresh.attributes) if (root.getAttribute(name) !== value) root.setAttribute(name, value);
  return true;
}

const refilled = (field) =>
  field.localName === "option"
    ? field.selected !== field.defaultSelected
    : field.value !== field.defaultValue || field.checked !== field.defaultChecked;

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content.firstElementChild;
}
