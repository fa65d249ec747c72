/** Makes elements of the pages. */

/** An element with these children: texts, which are no markup, and other elements. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const child of children)
    made.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  return made;
}
