/** Sets of the authors of documents. */
import type { Author } from "../types/documents.ts";

/** Each of them once, in the order of their first appearance. */
export const distinctAuthors = (authors: readonly Author[]): Author[] => [
  ...new Map(authors.map((author) => [JSON.stringify(author), author])).values(),
];
