/** `client.users`: the users of the room, online and offline, and who follows whom. */
import { Emitter } from "../../core/emitter.ts";
import type { UserRecord } from "../../wire/resources.ts";
import type { Connection } from "../connection/connection.ts";
import { type Data, isCount, isUser, type Joined, listOf, readFollows } from "../connection/frames.ts";
import type { Requests } from "../connection/requests.ts";
import { Roster, type User } from "./roster.ts";

/** How many users to load at once. */
const PAGE = 1_000;
/** The fields of a user that can change. */
const FIELDS = ["name", "profile_picture", "custom_id", "role"] as const;

/** The user `followerId` follows the user `userId`. */
export interface Following {
  readonly userId: string;
  readonly followerId: string;
}

export interface UsersEvents {
  /** Another user came online: its first tab joined. */
  userJoined: User;
  /** Another user went offline: its last tab left. */
  userLeft: User;
  userCreated: User;
  userUpdated: User;
  /** The user as it was. */
  userDeleted: User;
  userFollowed: Following;
  userUnfollowed: Following;
  /** Anything in the maps has changed. */
  updated: undefined;
}

export class Users extends Emitter<UsersEvents> {
  readonly #requests: Requests;
  readonly #roster: Roster;
  /** False until the first join has loaded all users, so that it emits no events for them. */
  #isLoaded = false;
  /** Whether the users who are offline are up to date too. */
  #isComplete = false;
  /** The users of events since the latest join; the database may be behind for them. */
  readonly #updatedSinceJoin = new Set<string>();

  constructor({ requests, changeStream }: Connection) {
    super();
    this.#requests = requests;
    this.#roster = new Roster((type, userId) => requests.send(type, { userId }, { read: () => {} }));
    changeStream.handle("userJoined", ({ user }) => this.#userJoined(user));
    changeStream.handle("userLeft", ({ user }) => this.#userLeft(user));
    changeStream.handle("userDeleted", ({ userId }) => this.#delete(String(userId)));
    for (const event of ["userCreated", "userUpdated"] as const)
      changeStream.handle(event, ({ user }) => this.#put(event, user));
    for (const event of ["userFollowed", "userUnfollowed"] as const)
      changeStream.handle(event, (data) => this.#follow(event, data));
    changeStream.onJoined((joined) => this.#joined(joined));
  }

  /** All users by id, including yourself: a live map, which is updated before listeners are called. */
  get all(): ReadonlyMap<string, User> {
    return this.#roster.all;
  }

  /** The users of {@link all} who are online. */
  get online(): ReadonlyMap<string, User> {
    return this.#roster.online;
  }

  /** The user, or null if the room has no such user. */
  get({ userId }: { readonly userId: string }): User | null {
    return this.all.get(userId) ?? null;
  }

  /** All users, including yourself. */
  getAll(): User[] {
    return [...this.all.values()];
  }

  #emitChange(
    event: "userJoined" | "userLeft" | "userCreated" | "userUpdated" | "userDeleted",
    user: User,
  ): void {
    if (!this.#isLoaded) return;
    this.emit(event, user);
    this.emit("updated", undefined);
  }

  #userJoined(record: unknown): void {
    if (!isUser(record)) return;
    this.#updatedSinceJoin.add(record.id);
    if (this.online.has(record.id)) this.#refresh(record);
    else this.#emitChange("userJoined", this.#roster.put(record, true));
  }

  #userLeft(record: unknown): void {
    if (!isUser(record) || !this.online.has(record.id)) return;
    this.#updatedSinceJoin.add(record.id);
    this.#emitChange("userLeft", this.#roster.put(record, false));
  }

  #put(event: "userCreated" | "userUpdated", record: unknown): void {
    if (!isUser(record)) return;
    this.#updatedSinceJoin.add(record.id);
    this.#emitChange(event, this.#roster.put(record));
  }

  #delete(userId: string): void {
    this.#updatedSinceJoin.add(userId);
    const user = this.#roster.remove(userId);
    if (user !== undefined) this.#emitChange("userDeleted", { ...user, status: "offline" });
  }

  #follow(event: "userFollowed" | "userUnfollowed", { userId, followerId }: Data): void {
    if (typeof userId !== "string" || typeof followerId !== "string") return;
    this.#roster.setFollow(followerId, userId, event === "userFollowed");
    this.emit(event, { userId, followerId });
    this.emit("updated", undefined);
  }

  #joined({ users, follows, changes }: Joined): Promise<void> | undefined {
    if (changes === null) this.#isComplete = false;
    if (!this.#isComplete) this.#roster.replaceFollows(follows);
    this.#updatedSinceJoin.clear();
    const present = new Set(users.map(({ id }) => id));
    const gone = [...this.online.values()].filter(({ id }) => !present.has(id));
    for (const user of gone) this.#emitChange("userLeft", this.#roster.put(user, false));
    for (const user of users) this.#userJoined(user);
    if (!this.#isComplete) return this.#loadAll();
    this.emit("updated", undefined);
    return undefined;
  }

  async #loadAll(): Promise<void> {
    const found = new Set<string>();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      total = await this.#requests.send(
        "USERS_GET",
        { limit: PAGE, offset },
        { resend: false, read: (data) => this.#readPage(data, found) },
      );
    }
    for (const userId of this.all.keys()) {
      if (!found.has(userId) && !this.#updatedSinceJoin.has(userId)) this.#delete(userId);
    }
    this.#isComplete = true;
    this.#isLoaded = true;
    this.emit("updated", undefined);
  }

  #readPage({ users, total, follows }: Data, found: Set<string>): number {
    this.#roster.addFollows(readFollows(follows)); // the response to the join has room for some only
    for (const record of listOf(users, isUser)) {
      found.add(record.id);
      if (this.#updatedSinceJoin.has(record.id)) continue;
      if (this.all.has(record.id)) this.#refresh(record);
      else this.#put("userCreated", record);
    }
    return isCount(total) ? total : 0;
  }

  /** Puts the record of a known user, and emits an event if it has changed. */
  #refresh(record: UserRecord): void {
    const before = this.all.get(record.id);
    const user = this.#roster.put(record);
    if (before !== undefined && FIELDS.some((field) => before[field] !== user[field]))
      this.#emitChange("userUpdated", user);
  }
}
