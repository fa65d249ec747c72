/** The users who are online, as each join is answered with: JSON that is kept, because it grows with the room. */
import { presentUser } from "../../users/present.ts";
import type { User } from "../../users/schema.ts";
import { JsonText } from "../protocol/frame.ts";
import type { OpenSession } from "../storage/storage.ts";

export const presentOnline = ({ user, joinedAt }: OpenSession): User =>
  presentUser(user, { online: true, joinedAt });

const textOf = (session: OpenSession): string => JSON.stringify(presentOnline(session));

export class Roster {
  /** The users one after the other; null when that has to be made anew. */
  #members: string | null = null;

  /** One more user is online. */
  add(session: OpenSession): void {
    if (this.#members === null) return;
    this.#members += `${this.#members === "" ? "" : ","}${textOf(session)}`;
  }

  /** Someone has left, or has new fields. */
  outdate(): void {
    this.#members = null;
  }

  /** An array of the users of `sessions`, which are those that are open. */
  text(sessions: Iterable<OpenSession>): JsonText {
    this.#members ??= Array.from(sessions, textOf).join();
    return new JsonText(`[${this.#members}]`);
  }
}
