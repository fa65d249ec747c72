/** Server-Sent Events as text. */

/**
 * A line of an event ends at any kind of line break. Clients drop a space at its beginning, and some drop no more. A client
 * that connects again sends the last `id`.
 */
export const serverSentEvent = (name: string, data: string, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\n${data
    .split(/\r\n|\r|\n/)
    .map((line) => `data:${line.startsWith(" ") ? " " : ""}${line}\n`)
    .join("")}\n`;
