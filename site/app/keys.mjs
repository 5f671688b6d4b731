// The keyboard where the browser has no ready answer: grids with one Tab stop, and arrows within a player.

export function addKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || event.shiftKey) return;
    const handled = inGrid(event) || inPlayer(event);
    if (handled) event.preventDefault();
  });
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target.matches("[data-grid] [data-cell]")) makeStop(target);
  });
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Arrows move by one cell, Home and End along the row, with Control to the corners. */
function inGrid({ target, key, ctrlKey }) {
  const cell = target.closest?.("[data-cell]");
  const grid = cell?.closest("[data-grid]");
  if (!grid) return false;
  const next = key in STEPS && !ctrlKey ? beside(grid, cell, STEPS[key]) : atEnd(grid, cell, key, ctrlKey);
  if (!next) return key in STEPS || key === "Home" || key === "End";
  makeStop(next);
  next.focus();
  return true;
}

function beside(grid, { dataset }, [down, right]) {
  const [row, column] = [Number(dataset.row) + down, Number(dataset.col) + right];
  return grid.querySelector(`[data-cell][data-row="${row}"][data-col="${column}"]`);
}

function atEnd(grid, { dataset }, key, everywhere) {
  if (key !== "Home" && key !== "End") return null;
  const row = everywhere ? "" : `[data-row="${dataset.row}"]`;
  return [...grid.querySelectorAll(`[data-cell]${row}`)].at(key === "Home" ? 0 : -1);
}

/** The one cell of its grid that Tab reaches. */
function makeStop(cell) {
  for (const other of cell.closest("[data-grid]").querySelectorAll("[data-cell]")) {
    other.setAttribute("tabindex", other === cell ? "0" : "-1");
  }
}

const OWN_ARROWS = "input:not([type=checkbox]), select, textarea, [role=slider]";

function inPlayer({ target, key, ctrlKey }) {
  const side = { ArrowLeft: "left", ArrowRight: "right" }[key];
  const player = target.closest?.("[data-keys]");
  if (!side || ctrlKey || !player || target.matches(OWN_ARROWS)) return false;
  player.querySelector(`[data-key-${side}]`)?.click();
  return true;
}
