/** The things of the wire as a user of the client sees them. The service may send more fields: they are let through. */

/** What a user may do: a viewer only reads, follows and shows presence. */
export type Role = "editor" | "viewer";

/** A room. */
export interface Room {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  /** The organization's own identifier. */
  readonly custom_id?: string | undefined;
  /** ISO 8601, as all times are. */
  readonly created_at: string;
  readonly state: "active" | "closed";
  /** Whole seconds in which somebody was online, added up. */
  readonly duration_seconds: number;
  /** Users online when the room was read; several tabs of a user count once. */
  readonly active_participants: number;
  /** Users ever created here. */
  readonly total_users_created: number;
}

/** A user as the service knows it. */
export interface UserRecord {
  readonly id: string;
  readonly room_id: string;
  readonly name: string;
  /** An http or https address. */
  readonly profile_picture?: string | undefined;
  /** The organization's own identifier. */
  readonly custom_id?: string | undefined;
  /** The highest role that the user can join with. */
  readonly role: Role;
  readonly status: "online" | "offline";
  readonly created_at: string;
  /** The latest join; left out before the first. */
  readonly joined_at?: string | undefined;
}

/** A comment, or an answer to one. */
export interface Comment {
  readonly id: string;
  readonly room_id: string;
  /** The author. */
  readonly user_id: string;
  /** The id of the comment that began the thread. */
  readonly thread_id: string;
  readonly text: string;
  /** What the comment is about, in the application's own terms; null for nothing. */
  readonly anchor: unknown;
  /** Ids of the users who are meant. */
  readonly mentions: string[];
  /** The users behind each reaction, the earliest first. */
  readonly reactions: Record<string, string[]>;
  readonly resolved: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What a user shows of itself right now: any JSON object, and a `color` that the service adds. */
export type PresenceState = Readonly<Record<string, unknown>>;

/** A file of a room. */
export interface StorageFile {
  /** Whoever knows it may read the file. */
  readonly key: string;
  /** Where it is read. */
  readonly url: string;
  readonly filename: string;
  /** As the uploader declared it; nobody has checked. */
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly uploadedAt: string;
  /** The user who uploaded it. */
  readonly uploadedBy: string;
}

/** A file that was just stored. */
export type UploadResult = Pick<StorageFile, "key" | "url">;
