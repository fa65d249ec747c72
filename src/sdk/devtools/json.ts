/** Values as text of bounded length. */

const MAX_LINE = 80;
const MAX_TEXT = 20_000;

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);

/** The beginning of a value, for one line. */
export const summary = (value: unknown): string => cut(JSON.stringify(value) ?? "nothing", MAX_LINE);

/** A whole value, unless it is very long. */
export const pretty = (value: unknown): string => cut(JSON.stringify(value, null, 2) ?? "nothing", MAX_TEXT);
