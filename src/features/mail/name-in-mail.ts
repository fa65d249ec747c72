/** Names that customers chose, as mails show them. */

/** Longer names are cut: they are chosen by others than the reader. */
const MAX_NAME_LENGTH = 60;

/** A name that a customer chose, on one line and of a bounded length. */
export function nameInMail(name: string): string {
  const line = name.replace(/[\s\p{C}]+/gu, " ").trim();
  return line.length > MAX_NAME_LENGTH ? `${line.slice(0, MAX_NAME_LENGTH - 1).trimEnd()}…` : line;
}
