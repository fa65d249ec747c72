/** Copying, also over plain HTTP from another machine, where browsers offer pages no clipboard. */

/** Puts text into the clipboard; rejects when the browser does not allow it. */
export async function copyText(text: string): Promise<void> {
  if ("clipboard" in navigator) return navigator.clipboard.writeText(text);
  const put = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", put, { once: true });
  const isCopied = document.execCommand("copy");
  document.removeEventListener("copy", put);
  if (!isCopied) throw new Error("The browser does not allow to copy");
}
