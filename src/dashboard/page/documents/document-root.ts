/** What the pages show of a document: its shared types by name. */

export interface DocumentRoot {
  readonly name: string;
  /** What it seems to be, judged by what is in it: a document itself does not say it. */
  readonly kind: "text" | "map" | "array" | "xml";
  /** Of text and XML, block by block; null for others. */
  readonly text: string | null;
  readonly json: unknown;
}

/** All that can be read as text; empty for a document that has none. */
export const textOf = (roots: readonly DocumentRoot[]): string =>
  roots.flatMap(({ text }) => text ?? []).join("\n\n");

/** The shared types by name. */
export const jsonOf = (roots: readonly DocumentRoot[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(roots.map(({ name, json }) => [name, json]));
