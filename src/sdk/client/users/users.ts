/** `client.users`: everybody in the room, online or not, and who follows whom. */
import { Emitter } from "../../core/emitter.ts";
import type { UserRecord } from "../../wire/resources.ts";
import type { Connection } from "../connection/connection.ts";
import { type Data, isCount, isUser, type Joined, listOf } from "../connection/frames.ts";
import type { Requests } from "../connection/requests.ts";
import { Roster, type User } from "./roster.ts";

/** Users asked for at once. */
const PAGE = 1_000;
/** What can be changed of a user. */
const FIELDS = ["name", "profile_picture", "custom_id", "role"] as const;

/** Who follows (`followerId`) whom (`userId`). */
export interface Following {
  readonly userId: string;
  readonly followerId: string;
}

export interface UsersEvents {
  /** Another user has come online, or gone offline. */
  userJoined: User;
  userLeft: User;
  userCreated: User;
  userUpdated: User;
  /** With the user as it was. */
  userDeleted: User;
  userFollowed: Following;
  userUnfollowed: Following;
  /** Something in the maps has changed, whatever it was. */
  updated: undefined;
}

export class Users extends Emitter<UsersEvents> {
  readonly #requests: Requests;
  readonly #roster: Roster;
  /** False before the first join, whose news are none. */
  #isAnnouncing = false;
  /** Whether those who are offline are known too. */
  #isComplete = false;
  /** Users of whom something was told since the latest join: what the database says of them may be older. */
  readonly #touched = new Set<string>();

  constructor({ requests, feed }: Connection) {
    super();
    this.#requests = requests;
    this.#roster = new Roster((type, userId) => requests.ask(type, { userId }, { take: () => {} }));
    feed.hear("userJoined", ({ user }) => this.#arrive(user));
    feed.hear("userLeft", ({ user }) => this.#leave(user));
    feed.hear("userCreated", ({ user }) => this.#learn("userCreated", user));
    feed.hear("userUpdated", ({ user }) => this.#learn("userUpdated", user));
    feed.hear("userDeleted", ({ userId }) => this.#delete(String(userId)));
    feed.hear("userFollowed", (data) => this.#follow("userFollowed", data));
    feed.hear("userUnfollowed", (data) => this.#follow("userUnfollowed", data));
    feed.onJoined((joined) => this.#enter(joined));
  }

  /** Everybody by id, oneself included: a live map, changed before listeners are called. */
  get all(): ReadonlyMap<string, User> {
    return this.#roster.all;
  }

  /** Those of {@link all} who are online. */
  get online(): ReadonlyMap<string, User> {
    return this.#roster.online;
  }

  /** The user, or null when the room has no such user. */
  get({ userId }: { readonly userId: string }): User | null {
    return this.all.get(userId) ?? null;
  }

  getAll(): User[] {
    return [...this.all.values()];
  }

  #tell(event: "userJoined" | "userLeft" | "userCreated" | "userUpdated" | "userDeleted", user: User): void {
    if (!this.#isAnnouncing) return;
    this.emit(event, user);
    this.emit("updated", undefined);
  }

  #arrive(record: unknown): void {
    if (!isUser(record)) return;
    this.#touched.add(record.id);
    if (this.online.has(record.id)) this.#refresh(record);
    else this.#tell("userJoined", this.#roster.put(record, true));
  }

  #leave(record: unknown): void {
    if (!isUser(record) || !this.online.has(record.id)) return;
    this.#touched.add(record.id);
    this.#tell("userLeft", this.#roster.put(record, false));
  }

  #learn(event: "userCreated" | "userUpdated", record: unknown): void {
    if (!isUser(record)) return;
    this.#touched.add(record.id);
    this.#tell(event, this.#roster.put(record));
  }

  #delete(userId: string): void {
    this.#touched.add(userId);
    const user = this.#roster.remove(userId);
    if (user !== undefined) this.#tell("userDeleted", { ...user, status: "offline" });
  }

  #follow(event: "userFollowed" | "userUnfollowed", { userId, followerId }: Data): void {
    if (typeof userId !== "string" || typeof followerId !== "string") return;
    if (event === "userFollowed") this.#roster.follow(followerId, userId);
    else this.#roster.unfollow(followerId, userId);
    this.emit(event, { userId, followerId });
    this.emit("updated", undefined);
  }

  #enter({ users, follows, changes }: Joined): Promise<void> | undefined {
    if (changes === null) this.#isComplete = false;
    this.#touched.clear();
    this.#roster.replaceFollows(follows);
    const present = new Set(users.map(({ id }) => id));
    const gone = [...this.online.values()].filter(({ id }) => !present.has(id));
    for (const user of gone) this.#tell("userLeft", this.#roster.put(user, false));
    for (const user of users) this.#arrive(user);
    if (!this.#isComplete) return this.#loadAll();
    this.emit("updated", undefined);
    return undefined;
  }

  async #loadAll(): Promise<void> {
    const found = new Set<string>();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      total = await this.#requests.ask(
        "USERS_GET",
        { limit: PAGE, offset },
        { resend: false, take: (answer) => this.#takePage(answer, found) },
      );
    }
    for (const userId of this.all.keys()) {
      if (!found.has(userId) && !this.#touched.has(userId)) this.#delete(userId);
    }
    this.#isComplete = true;
    this.#isAnnouncing = true;
    this.emit("updated", undefined);
  }

  #takePage({ users, total }: Data, found: Set<string>): number {
    for (const record of listOf(users, isUser)) {
      found.add(record.id);
      if (this.#touched.has(record.id)) continue;
      if (this.all.has(record.id)) this.#refresh(record);
      else this.#learn("userCreated", record);
    }
    return isCount(total) ? total : 0;
  }

  /** Takes up a record of a known user, which may or may not say something new. */
  #refresh(record: UserRecord): void {
    const before = this.all.get(record.id);
    const user = this.#roster.put(record);
    if (before !== undefined && FIELDS.some((field) => before[field] !== user[field]))
      this.#tell("userUpdated", user);
  }
}
