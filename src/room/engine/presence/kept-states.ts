/** The state that each user shows, with its size, and the socket whose attachment keeps it through hibernation. */

import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import type { PresenceUpdate } from "@atrium/contract/operations/presence.ts";
import { colorIndexOf, PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import { byteLength, cut } from "@atrium/contract/text.ts";
import { JsonText } from "../../protocol/frame.ts";

/** The state that a user's clients have set, without the color that the service adds. */
export type Fields = Readonly<Record<string, unknown>>;

interface KeptState {
  readonly socketId: string;
  readonly fields: Fields;
  /** The fields as JSON, and its size in bytes. */
  readonly json: string;
  readonly bytes: number;
}

/** The socket of a user without one: no socket keeps the presence. */
export const NO_SOCKET = "";

export function keptState(socketId: string, fields: Fields): KeptState {
  const json = JSON.stringify(fields);
  return { socketId, fields, json, bytes: byteLength(json) };
}

/** Whether the user has chosen the color that is shown. */
export const hasOwnColor = (state: KeptState | undefined): boolean =>
  state !== undefined && Object.hasOwn(state.fields, "color");

/** The colors of those who show a state (R51): as different as ten colors allow. */
class UserColors {
  readonly #byUser = new Map<string, number>();
  readonly #users = PERSON_COLORS.map(() => 0);

  /** The color of the user until it is released: the one that the ID names, or the next that the fewest have. */
  of(userId: string): number {
    const known = this.#byUser.get(userId);
    if (known !== undefined) return known;
    const first = colorIndexOf(userId);
    const inOrder = PERSON_COLORS.map((_, index) => (first + index) % PERSON_COLORS.length);
    const fewest = Math.min(...this.#users);
    const color = inOrder.find((each) => this.#users[each] === fewest) ?? first;
    this.take(userId, color);
    return color;
  }

  /** The user has this color. */
  take(userId: string, color: number): void {
    this.release(userId);
    this.#byUser.set(userId, color);
    this.#count(color, 1);
  }

  release(userId: string): void {
    const color = this.#byUser.get(userId);
    if (color === undefined) return;
    this.#byUser.delete(userId);
    this.#count(color, -1);
  }

  #count(color: number, more: number): void {
    this.#users[color] = (this.#users[color] ?? 0) + more;
  }
}

function fieldsAfter(
  before: Fields | undefined,
  { state, patch, remove = [] }: PresenceUpdate,
): Fields | null {
  if (state !== undefined) return state;
  const fields: Record<string, unknown> = { ...before, ...patch };
  for (const name of remove) delete fields[name];
  return fields;
}

/** Characters of a field's name in an error message. */
const MAX_NAME_SHOWN = 100;

const ROOM_IS_FULL = new AppError(
  "Rooms",
  "CONFLICT",
  `state: the presence of all users of the room can have at most ${LIMITS.roomPresenceBytes} bytes together; show less`,
);

/** Names the largest field of a patch, so that its sender finds it. */
function tooLarge({ patch }: PresenceUpdate): AppError {
  const sizes = Object.entries(patch ?? {}).map(
    ([name, value]) => [name, JSON.stringify(value).length] as const,
  );
  const [largest] = sizes.toSorted(([, a], [, b]) => b - a);
  const field = largest === undefined ? "state" : `patch.${cut(largest[0], MAX_NAME_SHOWN)}`;
  const message = `${field}: the state must have at most ${LIMITS.presenceBytes} bytes`;
  return new AppError("Rooms", "VALIDATION_ERROR", message);
}

export class KeptStates {
  readonly #byUser = new Map<string, KeptState>();
  readonly colors = new UserColors();
  #bytes = 0;

  get(userId: string): KeptState | undefined {
    return this.#byUser.get(userId);
  }

  set(userId: string, state: KeptState | null): void {
    this.#bytes += (state?.bytes ?? 0) - (this.#byUser.get(userId)?.bytes ?? 0);
    if (state !== null) this.#byUser.set(userId, state);
    else {
      this.#byUser.delete(userId);
      this.colors.release(userId);
    }
  }

  /** The user's fields for others: JSON with the color. */
  shown(userId: string, state: KeptState): string {
    const { json } = state;
    if (hasOwnColor(state)) return json;
    return `{"color":"${PERSON_COLORS[this.colors.of(userId)]}"${json === "{}" ? "" : ","}${json.slice(1)}`;
  }

  /** The socket keeps the state from now on. VALIDATION_ERROR for a large state, CONFLICT for all states together. */
  update(userId: string, socketId: string, update: PresenceUpdate) {
    const before = this.#byUser.get(userId);
    const fields = fieldsAfter(before?.fields, update);
    const after = fields === null ? null : keptState(socketId, fields);
    if (after !== null && after.bytes > LIMITS.presenceBytes) throw tooLarge(update);
    const growth = (after?.bytes ?? 0) - (before?.bytes ?? 0);
    if (growth > 0 && this.#bytes + growth > LIMITS.roomPresenceBytes) throw ROOM_IS_FULL;
    this.set(userId, after);
    return { before, after };
  }

  /** States by user id that fit into `maxBytes` of JSON; all by default. */
  byUser(maxBytes = Number.POSITIVE_INFINITY): JsonText {
    const members: string[] = [];
    let bytes = 0;
    for (const [userId, state] of this.#byUser) {
      const member = `${JSON.stringify(userId)}:${this.shown(userId, state)}`;
      bytes += byteLength(member) + "{}".length;
      if (bytes > maxBytes) break;
      members.push(member);
    }
    return new JsonText(`{${members.join()}}`);
  }
}

/** Short numbers for users in presence (R86). Memory only: after hibernation users are introduced again. */
export class UserNumbers {
  readonly #byUser = new Map<string, number>();
  /** Users whose number all sockets with numbers have received. */
  readonly #introduced = new Set<string>();
  /** Numbers of users who are gone, for the next users. */
  readonly #free: number[] = [];

  /** The user's number until it is released. */
  of(userId: string): number {
    const known = this.#byUser.get(userId);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#byUser.size;
    this.#byUser.set(userId, number);
    return number;
  }

  isIntroduced(userId: string): boolean {
    return this.#introduced.has(userId);
  }

  /** All sockets with numbers were sent the numbers of these users. */
  introduce(userIds: Iterable<string>): void {
    for (const userId of userIds) if (this.#byUser.has(userId)) this.#introduced.add(userId);
  }

  /** The user has to be introduced again. */
  release(userId: string): void {
    const number = this.#byUser.get(userId);
    if (number === undefined) return;
    this.#byUser.delete(userId);
    this.#introduced.delete(userId);
    this.#free.push(number);
  }
}
