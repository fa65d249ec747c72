/** A button at each sample that copies it. */
const SHOWN_MS = 2_000;

/** Adds the buttons. */
export function addCopyButtons(): void {
  for (const pre of document.querySelectorAll<HTMLElement>("figure pre")) addCopyButton(pre);
}

/** Puts the button before a sample. Browsers offer the clipboard over https and on localhost only; elsewhere there is none. */
export function addCopyButton(pre: HTMLElement): void {
  if (!("clipboard" in navigator)) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(pre.textContent ?? "", button));
  pre.parentNode?.insertBefore(button, pre);
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
