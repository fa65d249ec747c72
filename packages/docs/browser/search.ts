/** The way into the search: the button in the bar, `/`, and Ctrl or ⌘ with K open the palette, which loads then. */
import { isComposing } from "atrium/internal/input-method";

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches("input, textarea, select");

export function enableSearch(): void {
  const box = document.querySelector<HTMLElement>(".search");
  const opener = box?.querySelector("button");
  if (!box || !opener) return;
  box.hidden = false;
  const shortcut = opener.querySelector("kbd");
  if (shortcut && /Mac|iP/.test(navigator.platform)) shortcut.textContent = "⌘ K";
  let opened: Promise<void> | undefined;
  const open = () => {
    opened ??= import("./palette.ts").then(
      ({ openPalette }) => openPalette(box),
      reportError, // the next try loads it again
    );
    void opened.finally(() => {
      opened = undefined;
    });
  };
  opener.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.altKey) return;
    const hasModifier = event.ctrlKey || event.metaKey;
    const isShortcut = hasModifier
      ? event.key.toLowerCase() === "k"
      : event.key === "/" && !isTyping(event.target);
    if (!isShortcut) return;
    event.preventDefault();
    open();
  });
}
