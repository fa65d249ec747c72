/** Finds entries of the documentation by words. Pure: the page's script and the tests use it. */

/** A heading of a page, or an operation of the API reference. */
export interface SearchEntry {
  readonly title: string;
  readonly page: string;
  readonly url: string;
  /** The beginning of the section, or the operation's method and path. */
  readonly text: string;
}

/** The higher, the better; 0 for an entry that lacks a word. */
function scoreOf({ title, page, text }: SearchEntry, words: readonly string[]): number {
  const [inTitle, inPage, inText] = [title, page, text].map((one) => one.toLowerCase());
  let score = 0;
  for (const word of words) {
    if (inTitle?.startsWith(word)) score += 8;
    else if (inTitle?.includes(word)) score += 4;
    else if (inPage?.includes(word)) score += 2;
    else if (inText?.includes(word)) score += 1;
    else return 0;
  }
  return title === page ? score + 1 : score; // a page comes before its sections
}

export function search(entries: readonly SearchEntry[], query: string, limit: number): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ entry }) => entry);
}
