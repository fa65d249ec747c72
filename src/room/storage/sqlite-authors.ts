/** How SQLite keeps authors: a user in one column, what acted for the organization in another, several in a third. */
import type { Author } from "../types/documents.ts";

/** `acting` is `key` or `person`, a colon and the id; rooms of the fourth schema did not keep it. */
export type AuthorColumns = { user_id: string | null; acting: string | null };

/** `authors` is null unless they are several: then the other columns are. Rooms of the sixth schema did not have it. */
export type AuthorsColumns = AuthorColumns & { authors: string | null };

const KEY = "key:";
const PERSON = "person:";

export function columnsOf(author: Author): AuthorColumns {
  switch (author.type) {
    case "user":
      return { user_id: author.id, acting: null };
    case "key":
      return { user_id: null, acting: `${KEY}${author.id}` };
    case "person":
      return { user_id: null, acting: `${PERSON}${author.id}` };
    case "organization":
      return { user_id: null, acting: null };
  }
}

export function authorOf({ user_id, acting }: AuthorColumns): Author {
  if (user_id !== null) return { type: "user", id: user_id };
  if (acting?.startsWith(KEY)) return { type: "key", id: acting.slice(KEY.length) };
  if (acting?.startsWith(PERSON)) return { type: "person", id: acting.slice(PERSON.length) };
  return { type: "organization" };
}

const NO_AUTHOR: AuthorColumns = { user_id: null, acting: null };

/** Of one or several. */
export function columnsOfAll(authors: readonly Author[]): AuthorsColumns {
  const [only, ...others] = authors;
  if (only !== undefined && others.length === 0) return { ...columnsOf(only), authors: null };
  return { ...NO_AUTHOR, authors: JSON.stringify(authors) };
}

export const authorsOf = ({ authors, ...one }: AuthorsColumns): Author[] =>
  authors === null ? [authorOf(one)] : parseAuthors(authors);

/** As JSON has them in a column. */
export const parseAuthors = (json: string): Author[] => JSON.parse(json) as Author[];
