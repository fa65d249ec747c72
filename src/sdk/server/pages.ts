/** Pages and searches: which part of a list to return, which part was returned, and all parts one after the other. */
import type { Rest } from "../core/rest.ts";

/** A part of a list; by default its first 50 items. */
export interface Page {
  /** At most 100; 50 by default. */
  readonly limit?: number;
  /** The number of items to skip; 0 by default. */
  readonly offset?: number;
}

/** A part of a list that may be long; by default its first 50 items. */
export interface Scroll extends Page {
  /** The `cursor` of an earlier page: the items that follow it. Each page costs as much as the first. */
  readonly after?: string;
}

/** An order: by this field, descending with `-` in front. */
type Sort<Field extends string> = Field | `-${Field}`;

/** Filters and orders a list of users. */
export interface Search extends Dated {
  /** `-created_at`, the newest first, unless it is given. A page that follows a `cursor` has the cursor's order. */
  readonly sort?: Sort<"created_at" | "name">;
}

/** Filters and orders the users of a room, also by the state of the live room. */
export interface UserSearch extends Search {
  /** Only users who are online, or only those who are not. */
  readonly online?: boolean;
  /** The earliest time at which users were last seen, among the room's latest 10,000 sessions. */
  readonly lastSeenFrom?: string;
  /** The latest time at which users were last seen; those who are online are seen now. */
  readonly lastSeenTo?: string;
}

interface Dated extends Scroll {
  /** Text to find in the name, ignoring case. */
  readonly search?: string;
  /** The earliest creation time: RFC 3339, or a date for the start of that UTC day. */
  readonly from?: string;
  /** The latest creation time: RFC 3339, or a date for the end of that UTC day. */
  readonly to?: string;
}

/** Filters and orders a list of rooms. */
export interface RoomSearch extends Dated {
  /** `-created_at`, the newest first, unless it is given. A page that follows a `cursor` has the cursor's order. */
  readonly sort?: Sort<"created_at" | "name" | "last_active_at">;
  /** Only rooms in this state. */
  readonly state?: "active" | "closed";
  /** Only rooms with users online, or only those without. */
  readonly online?: boolean;
}

/** Filters and orders a list of workflows. */
export interface WorkflowSearch extends Page {
  /** Text to find in the name, ignoring case. */
  readonly search?: string;
  /** `-created_at`, the newest first, unless it is given. */
  readonly sort?: Sort<"created_at" | "updated_at" | "name">;
}

/** Filters and orders a list of webhooks. */
export interface WebhookSearch extends Page {
  /** Text to find in the URL, ignoring case. */
  readonly search?: string;
  /** `-created_at`, the newest first, unless it is given. */
  readonly sort?: Sort<"created_at" | "updated_at" | "url">;
}

/** Orders a list of members. */
export interface MemberSearch extends Scroll {
  /** `-joined_at`, the most recent first, unless it is given. A page that follows a `cursor` has the cursor's order. */
  readonly sort?: Sort<"joined_at" | "name" | "email" | "role">;
}

/** Orders a list of API keys. */
export interface KeySearch extends Scroll {
  /** `-created_at`, the newest first, unless it is given. A page that follows a `cursor` has the cursor's order. */
  readonly sort?: Sort<"created_at" | "name" | "last_used_at">;
}

/** Orders a list of files. */
export interface FileSort {
  /** `-uploadedAt`, the newest first, unless it is given. A page that follows a `cursor` has the cursor's order. */
  readonly sort?: Sort<"uploadedAt" | "filename" | "size">;
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

/** The filters of a list, without its page. */
export type Filter<Query extends Scroll> = Omit<Query, keyof Scroll>;

/** One kind of resource of the REST interface. */
export abstract class Resource {
  protected readonly rest: Rest;

  constructor(rest: Rest) {
    this.rest = rest;
  }
}

/** The most items that one request may ask for. */
const MAX_LIMIT = 100;

/** The items of all pages, which `read` reads one after the other as they are needed. */
export async function* eachOf<Shown extends { readonly cursor: string | null }, Item>(
  read: (part: Pick<Scroll, "limit" | "after">) => Promise<Shown>,
  itemsOf: (page: Shown) => readonly Item[],
): AsyncGenerator<Item, void, void> {
  let page = await read({ limit: MAX_LIMIT });
  yield* itemsOf(page);
  while (page.cursor !== null) {
    page = await read({ limit: MAX_LIMIT, after: page.cursor });
    yield* itemsOf(page);
  }
}
