/** The users that a room's object has named for a filter. */
export interface NamedUsers {
  /** A JSON array of their IDs. */
  readonly ids: string;
  /** Whether all other users of the room are meant. */
  readonly isExcluding: boolean;
}
