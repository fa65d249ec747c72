/** The state that each user shows, with its size, and the socket whose attachment keeps it through hibernation. */
import { fnv1a } from "../../../platform/crypto/encoding.ts";
import { AppError } from "../../../platform/errors.ts";
import { byteLength } from "../../../platform/text.ts";
import { JsonText } from "../../protocol/frame.ts";
import { MAX_PRESENCE_BYTES, MAX_ROOM_PRESENCE_BYTES } from "../../protocol/limits.ts";
import type { PresenceUpdate } from "../../protocol/messages.ts";

/** Sixteen hues that are distinct on white and on black. */
const COLORS = [
  "#e11d48",
  "#ea580c",
  "#ca8a04",
  "#65a30d",
  "#16a34a",
  "#0d9488",
  "#0891b2",
  "#0284c7",
  "#2563eb",
  "#4f46e5",
  "#7c3aed",
  "#9333ea",
  "#c026d3",
  "#db2777",
  "#b45309",
  "#475569",
] as const;

export const colorOf = (userId: string): string => COLORS[fnv1a(userId) % COLORS.length] ?? COLORS[0];

/** What a user's clients have set, without the color that the service adds. */
export type Fields = Readonly<Record<string, unknown>>;

/** A user's state, and the socket whose attachment keeps it through hibernation. */
interface KeptState {
  readonly socketId: string;
  readonly fields: Fields;
  /** The fields as JSON, and its size in bytes. */
  readonly json: string;
  readonly bytes: number;
}

export function keptState(socketId: string, fields: Fields): KeptState {
  const json = JSON.stringify(fields);
  return { socketId, fields, json, bytes: byteLength(json) };
}

/** Whether the user has chosen the color that is shown. */
export const hasOwnColor = (state: KeptState | undefined): boolean =>
  state !== undefined && Object.hasOwn(state.fields, "color");

/** The fields as JSON with the user's color: what others are shown. */
export function shownText(userId: string, state: KeptState): string {
  const { json } = state;
  if (hasOwnColor(state)) return json;
  return `{"color":"${colorOf(userId)}"${json === "{}" ? "" : ","}${json.slice(1)}`;
}

/** Null for none. */
function fieldsAfter(
  before: Fields | undefined,
  { state, patch, remove = [] }: PresenceUpdate,
): Fields | null {
  if (state !== undefined) return state;
  const fields: Record<string, unknown> = { ...before, ...patch };
  for (const name of remove) delete fields[name];
  return fields;
}

/** How much of a field's name an error message shows. */
const MAX_NAME_SHOWN = 100;

const ROOM_IS_FULL = new AppError(
  "Rooms",
  "CONFLICT",
  `state: the presence of all users of the room can have at most ${MAX_ROOM_PRESENCE_BYTES} bytes together; show less`,
);

/** Names the largest field of a patch, so that its sender finds it. */
function tooLarge({ patch }: PresenceUpdate): AppError {
  const sizes = Object.entries(patch ?? {}).map(
    ([name, value]) => [name, JSON.stringify(value).length] as const,
  );
  const [largest] = sizes.toSorted(([, a], [, b]) => b - a);
  const field = largest === undefined ? "state" : `patch.${largest[0].slice(0, MAX_NAME_SHOWN)}`;
  const message = `${field}: the state must have at most ${MAX_PRESENCE_BYTES} bytes`;
  return new AppError("Rooms", "VALIDATION_ERROR", message);
}

export class KeptStates {
  readonly #byUser = new Map<string, KeptState>();
  /** Of all states together. */
  #bytes = 0;

  get(userId: string): KeptState | undefined {
    return this.#byUser.get(userId);
  }

  /** Null removes the user's state. */
  set(userId: string, state: KeptState | null): void {
    this.#bytes += (state?.bytes ?? 0) - (this.#byUser.get(userId)?.bytes ?? 0);
    if (state === null) this.#byUser.delete(userId);
    else this.#byUser.set(userId, state);
  }

  /**
   * Sets, changes or removes a user's state, which the socket keeps from now on. VALIDATION_ERROR when it would be too
   * large, CONFLICT when those of all users together would be; it stays as it was.
   */
  update(userId: string, socketId: string, update: PresenceUpdate) {
    const before = this.#byUser.get(userId);
    const fields = fieldsAfter(before?.fields, update);
    const after = fields === null ? null : keptState(socketId, fields);
    if (after !== null && after.bytes > MAX_PRESENCE_BYTES) throw tooLarge(update);
    const growth = (after?.bytes ?? 0) - (before?.bytes ?? 0);
    if (growth > 0 && this.#bytes + growth > MAX_ROOM_PRESENCE_BYTES) throw ROOM_IS_FULL;
    this.set(userId, after);
    return { before, after };
  }

  /** The states by user id that fit into so many bytes of JSON: by default all of them. */
  byUser(maxBytes = Number.POSITIVE_INFINITY): JsonText {
    const members: string[] = [];
    let bytes = 0;
    for (const [userId, state] of this.#byUser) {
      const member = `${JSON.stringify(userId)}:${shownText(userId, state)}`;
      bytes += byteLength(member) + "{}".length;
      if (bytes > maxBytes) break;
      members.push(member);
    }
    return new JsonText(`{${members.join()}}`);
  }
}

/** In memory only: after hibernation users are introduced again, with other numbers. */
export class UserNumbers {
  readonly #byUser = new Map<string, number>();
  /** Users whose number everyone has who takes numbers. */
  readonly #introduced = new Set<string>();
  /** Numbers of users who are gone, which go to the next ones: so all stay small. */
  readonly #free: number[] = [];

  /** The user's number until it is released. */
  of(userId: string): number {
    const known = this.#byUser.get(userId);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#byUser.size;
    this.#byUser.set(userId, number);
    return number;
  }

  /** Whether the number may stand for the user. */
  isIntroduced(userId: string): boolean {
    return this.#introduced.has(userId);
  }

  /** Everyone who takes numbers was sent those of these users. */
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
