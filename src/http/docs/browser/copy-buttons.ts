/** A button at each sample that copies it. */
const SHOWN_MS = 2_000;

/** Adds the buttons. Browsers offer the clipboard over https and on localhost only; elsewhere there are none. */
export function addCopyButtons(): void {
  if (!("clipboard" in navigator)) return;
  for (const pre of document.querySelectorAll("figure pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => void copy(pre.textContent ?? "", button));
    pre.parentNode?.insertBefore(button, pre);
  }
}

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = isCopied ? "Copied" : "Not allowed";
  setTimeout(() => {
    button.textContent = "Copy";
  }, SHOWN_MS);
}
