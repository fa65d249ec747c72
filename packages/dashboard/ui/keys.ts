/** Single keys that press buttons and move through lists of a page. */

const ROWS = "main :is(.scroll tbody tr, .records > li, .comment, .file, .people li)";

/** Moves between the rows of lists, and opens or selects one. The arrow keys move once a row has the focus. */
function pressOnRow(key: string): boolean {
  const { activeElement } = document;
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const row = rows.findLast((one) => one.contains(activeElement));
  const isFocused = row !== undefined && row === activeElement;
  const step = { j: 1, k: -1, ...(isFocused && { ArrowDown: 1, ArrowUp: -1 }) }[key];
  if (step !== undefined) {
    const next = row === undefined ? rows[0] : rows[rows.indexOf(row) + step];
    if (next === undefined) return false;
    next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
    return true;
  }
  const target =
    key === "x"
      ? row?.querySelector<HTMLElement>(".select-box")
      : key === "Enter" && isFocused
        ? row.querySelector<HTMLElement>("summary, th a, a, th button")
        : null;
  target?.click();
  return target !== null && target !== undefined;
}

/** Triggers the element of the page that has this shortcut. */
export function pressOnPage(key: string): boolean {
  if (pressOnRow(key)) return true;
  const shortcut = { "/": "search", n: "new" }[key];
  const target = shortcut && document.querySelector<HTMLElement>(`main [data-shortcut=${shortcut}]`);
  if (!target) return false;
  target.focus();
  if (shortcut === "new") target.click();
  return true;
}
