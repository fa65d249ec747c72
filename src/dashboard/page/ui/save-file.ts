/** Saves bytes or text, which the page has, as a file on the person's device. */
export function saveFile(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the bytes by the time of the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
