/** What a list consists of, as a word. Pure. */

export interface Noun {
  readonly one: string;
  readonly many: string;
}

/** Such as "1 user" or "12 users". */
export const countOf = (count: number, { one, many }: Noun): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const NAMED = 5;

/** Such as "Ada, Bo and 3 more". */
export function namesOf(names: readonly string[]): string {
  const shown = names.length <= NAMED ? names : names.slice(0, NAMED - 1);
  const more = names.length - shown.length;
  const all = more === 0 ? shown : [...shown, `${more} more`];
  return all.length < 2 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}
