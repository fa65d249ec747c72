/** Pages and searches: the part of a list to return, the returned part, and all parts one after the other. */
import type { Rest } from "../core/rest.ts";
import type { DeliveryTotals } from "../wire/resources.ts";

/** A part of a list; by default its first 50 items. */
export interface Page {
  /** At most 100; 50 by default. */
  readonly limit?: number | undefined;
  /** The number of items to skip; 0 by default. */
  readonly offset?: number | undefined;
}

/** A part of a list that may be long; by default its first 50 items. */
export interface Scroll extends Page {
  /** The `cursor` of an earlier page: the items that follow it. Each page costs as much as the first. */
  readonly after?: string | undefined;
}

interface Sorted<Field extends string> {
  /** Descending with `-` in front; the newest first by default. A page that follows a `cursor` has the cursor's order. */
  readonly sort?: Field | `-${Field}` | undefined;
}

interface Searched {
  /** Text to find in the name, ignoring case. */
  readonly search?: string | undefined;
}

interface Dated extends Scroll, Searched {
  /** The earliest creation time: RFC 3339, or a date for the start of that UTC day. */
  readonly from?: string | undefined;
  /** The latest creation time: RFC 3339, or a date for the end of that UTC day. */
  readonly to?: string | undefined;
}

/** Filters and orders a list of users. */
export type Search = Dated & Sorted<"created_at" | "name">;

/** Filters and orders a list of identities. */
export interface IdentitySearch extends Search {
  /** Only identities of this kind, or of several, such as `person,agent`. */
  readonly kind?: string | undefined;
}

/** Filters and orders the users of a room, also by the state of the live room. */
export interface UserSearch extends Search {
  /** Only users who are online, or only those who are not. */
  readonly online?: boolean | undefined;
  /** The earliest time at which users were last seen, among the room's latest 10,000 sessions. */
  readonly lastSeenFrom?: string | undefined;
  /** The latest time at which users were last seen; users who are online are seen now. */
  readonly lastSeenTo?: string | undefined;
}

/** Filters and orders a list of rooms. */
export interface RoomSearch extends Dated, Sorted<"created_at" | "name" | "last_active_at"> {
  /** Only rooms in this state. */
  readonly state?: "active" | "closed" | undefined;
  /** Only rooms with users online, or only those without. */
  readonly online?: boolean | undefined;
}

/** Filters and orders a list of workflows. */
export type WorkflowSearch = Page & Searched & Sorted<"created_at" | "updated_at" | "name">;

/** Filters and orders a list of webhooks. */
export interface WebhookSearch extends Page, Sorted<"created_at" | "updated_at" | "url"> {
  /** Text to find in the URL, ignoring case. */
  readonly search?: string | undefined;
  /** Adds `stats` to each: its attempts in so much time, and what waits now. */
  readonly stats?: DeliveryTotals["range"] | undefined;
}

/** Orders a list of members. */
export type MemberSearch = Scroll & Sorted<"joined_at" | "name" | "email" | "role">;

/** Orders a list of API keys. */
export type KeySearch = Scroll & Sorted<"created_at" | "name" | "last_used_at">;

/** Orders a list of files. */
export type FileSort = Sorted<"uploadedAt" | "filename" | "size">;

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
