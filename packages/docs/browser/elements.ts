/** Elements that several scripts of the pages make. */
const COPIED_SHOWN_MS = 2_000;

/** An element with these children: texts, which are no markup, and other elements. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.replaceChildren(...children);
  return made;
}

export function button(text: string, onClick?: (made: HTMLButtonElement) => void): HTMLButtonElement {
  const made = element("button", text);
  made.type = "button";
  if (onClick) made.addEventListener("click", () => onClick(made));
  return made;
}

/** Puts a copy button before a sample. Browsers offer the clipboard over https and on localhost only. */
export function addCopyButton(pre: HTMLElement): void {
  if (!("clipboard" in navigator)) return;
  const copy = button("Copy", async () => {
    const isCopied = await navigator.clipboard.writeText(pre.textContent ?? "").then(
      () => true,
      () => false,
    );
    copy.textContent = isCopied ? "Copied" : "Not allowed";
    setTimeout(() => {
      copy.textContent = "Copy";
    }, COPIED_SHOWN_MS);
  });
  copy.className = "copy";
  pre.parentNode?.insertBefore(copy, pre);
}

export function sample(title: string, text: string): HTMLElement {
  const pre = element("pre", element("code", text));
  pre.tabIndex = 0;
  const figure = element("figure", element("figcaption", title), pre);
  addCopyButton(pre);
  return figure;
}
