/** Pages: the part of a list to return, the returned part, and all parts one after the other. */
import type { Rest } from "../core/rest.ts";

/** A part of a list; by default its first 50 items. */
export interface Page {
  /** Page size, up to 100; 50 by default. */
  readonly limit?: number | undefined;
  /** The number of items to skip; 0 by default. */
  readonly offset?: number | undefined;
}

/** A part of a list that may be long; by default its first 50 items. */
export interface Scroll extends Page {
  /** The `cursor` of an earlier page: the items that follow it. Each page costs as much as the first. */
  readonly after?: string | undefined;
}

/** The returned part of a list. */
export interface PageShown {
  /** The number of matching items, on all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** The returned part of a list that may be long. */
export interface ScrollShown extends PageShown {
  /** Goes into `after` to read the page that follows; null on the last one. */
  readonly cursor: string | null;
}

/** Items of a list by its name, and the returned part. */
export type Listed<Name extends string, Item, Shown extends object = ScrollShown> = {
  readonly [List in Name]: Item[];
} & Shown;

/** The filters of a list, without its page. */
export type Filter<Query extends Scroll> = Omit<Query, keyof Scroll>;

/** One kind of resource of the REST interface. */
export abstract class Resource {
  protected readonly rest: Rest;

  constructor(rest: Rest) {
    this.rest = rest;
  }

  /** The named field of an answer that has no other. */
  protected async only<Name extends string, Item>(
    name: Name,
    answer: Promise<{ readonly [Field in Name]: Item }>,
  ): Promise<Item> {
    return (await answer)[name];
  }
}

/** The most items that one request may ask for. */
const MAX_LIMIT = 100;

/** The items of all pages, which `read` reads one after the other as they are needed. */
export async function* eachOf<Name extends string, Item>(
  name: Name,
  read: (part: Pick<Scroll, "limit" | "after">) => Promise<Listed<Name, Item, Pick<ScrollShown, "cursor">>>,
): AsyncGenerator<Item, void, void> {
  let page = await read({ limit: MAX_LIMIT });
  yield* page[name];
  while (page.cursor !== null) {
    page = await read({ limit: MAX_LIMIT, after: page.cursor });
    yield* page[name];
  }
}
