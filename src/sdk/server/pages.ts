/** Pages and searches: which part of a list to return, and which part was returned. */

/** Which part of a list to return: its first 50 items, unless said otherwise. */
export interface Page {
  /** At most 100; 50 by default. */
  readonly limit?: number;
  /** How many items to skip; 0 by default. */
  readonly offset?: number;
}

/** Filters a list of rooms or users. */
export interface Search extends Page {
  /** Text to find in the name, ignoring case. */
  readonly search?: string;
  /** The earliest creation time: RFC 3339, or a date for the start of that UTC day. */
  readonly from?: string;
  /** The latest creation time: RFC 3339, or a date for the end of that UTC day. */
  readonly to?: string;
}

/** Filters a list of rooms. */
export interface RoomSearch extends Search {
  /** Only rooms in this state. */
  readonly state?: "active" | "closed";
  /** Only rooms with users online, or only those without. */
  readonly online?: boolean;
}

/** Filters a list by text in the name or, for webhooks, in the URL, ignoring case. */
export interface TextSearch extends Page {
  readonly search?: string;
}

/** Which part of a list was returned. */
export interface PageShown {
  /** How many items match, on all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}
