// A link to the state of a scene, for the clipboard. What is said about it stands on the button.
import * as address from "./address.mjs";

/** Copy the link; say in the scene's status line how it went. */
export async function copyLink(scene, { prefixed, trail }, { dataset }) {
  const search = address.written(trail.address.search, scene.name, prefixed, scene.shownAddress, scene.keys);
  const hash = prefixed ? `#${scene.name}` : "";
  const status = scene.root.querySelector("[role=status]");
  try {
    await navigator.clipboard.writeText(location.origin + location.pathname + search + hash);
    say(status, dataset.said);
  } catch {
    say(status, dataset.refused);
  }
}

function say(status, sentence) {
  if (status && sentence) status.textContent = sentence;
}
