// A box that scrolls sideways shows the column that the scene stands at: [data-now] within [data-follow].

/** Bring the column of now into its boxes' view; only the boxes scroll, never the page. */
export function follow(root) {
  for (const box of root.querySelectorAll("[data-follow]")) {
    const column = box.querySelector("[data-now]");
    if (!column || box.scrollWidth <= box.clientWidth) continue;
    const [view, place] = [box.getBoundingClientRect(), column.getBoundingClientRect()];
    if (place.left >= view.left + view.width / 4 && place.right <= view.right) continue;
    box.scrollLeft += place.left - view.left - view.width / 2;
  }
}
