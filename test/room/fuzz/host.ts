/** The port between the fuzzer and its room: the pure one in this process, or the real object in workerd. */
import type { RestChange } from "./steps.ts";

/** What a client's end of a socket does with what arrives. */
export interface Receiver {
  /** A frame of text, or one of a document. */
  receive(frame: string | Uint8Array): void;
  close(code: number): void;
}

/** A client's end of a socket. */
export interface Line {
  send(frame: string | ArrayBuffer): Promise<void>;
  /** Breaks the connection. */
  cut(): Promise<void>;
}

export type RoomState = "active" | "closed" | "deleted";

export interface Host {
  /** By the index of the user in `USERS`. */
  readonly userIds: readonly string[];
  readonly state: RoomState;
  /** How many faults the storage has had. */
  readonly faults: number;
  /** A token of the user, of today's epoch. */
  token(user: number): Promise<string>;
  /** `pings`: the client sends pings in time, which the room does not see. */
  open(receiver: Receiver, pings: boolean): Promise<Line>;
  change(change: RestChange): Promise<void>;
  deleteRoom(): Promise<void>;
  hold(isHeld: boolean): Promise<void>;
  failStorage(after: number): void;
  heal(): void;
  advance(ms: number): Promise<void>;
  flush(): Promise<void>;
  /** False when the room is busy, and so does not hibernate. */
  hibernate(): Promise<boolean>;
  crash(): Promise<void>;
  sweep(): Promise<void>;
  reconcile(): Promise<void>;
  /** Copies what the room stores. */
  backUp(): Promise<void>;
  /** Replaces what the room stores by the latest copy, which ends all connections. False if there is none. */
  restore(): Promise<boolean>;
  /** Waits until everything that was sent is answered, as time passes; where that takes real time, until `isSettled`. */
  settle(isSettled: () => boolean): Promise<void>;
  /** Waits until every user who is online has a socket: without one, no attachment keeps their presence while the room sleeps. */
  outlastGraces(): Promise<void>;
  /** Throws when the room stores, or keeps, more than is stated. `frames` were sent to it. */
  checkGrowth(frames: number): Promise<void>;
}
