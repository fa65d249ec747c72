/** The port between the fuzzer and its room: the pure one in this process, or the real object in workerd. */
import type { RoomRequest } from "../../../src/room/protocol/room-request.ts";
import type { RoomCommand } from "../../../src/room/types/room-object.ts";
import type { RestChange } from "./steps.ts";

/** A client's end of a socket. */
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
  /** IDs by the index of the user in `USERS`. */
  readonly userIds: readonly string[];
  readonly state: RoomState;
  /** How many faults the storage has had. */
  readonly faults: number;
  /** A token of the user, of today's epoch. */
  token(user: number): Promise<string>;
  /** `pings`: the client sends pings in time, which the room does not see. */
  open(receiver: Receiver, pings: boolean): Promise<Line>;
  /** Tells the room of a change in the database. */
  apply(command: RoomCommand): Promise<void>;
  /** Sends a request of the organization, which may be refused. */
  request(request: RoomRequest): Promise<void>;
  addParticipant(user: number, ttl: number): Promise<void>;
  /** Changes the database alone: a user goes, the tokens of a user or of all end, the room has another state. */
  deleteUser(user: number): Promise<void>;
  endTokens(user: number | null): Promise<void>;
  setState(state: "active" | "closed"): Promise<void>;
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
  /** Copies the room's storage. */
  backUp(): Promise<void>;
  /** Replaces the room's storage by the latest copy, which ends all connections. False if there is none. */
  restore(): Promise<boolean>;
  /** Waits until everything that was sent is answered, as time passes; where that takes real time, until `isSettled`. */
  settle(isSettled: () => boolean): Promise<void>;
  /** Waits until every user who is online has a socket: without one, no attachment keeps their presence while the room sleeps. */
  outlastGraces(): Promise<void>;
  /** Throws when the room stores, or keeps, more than is stated. `frames` were sent to it. */
  checkGrowth(frames: number): Promise<void>;
}

/** Carries out a change as REST does: in the database first, then in the room. */
export async function carryOut(host: Host, change: RestChange): Promise<void> {
  if (host.state === "deleted") return;
  const userId = ("user" in change && host.userIds[change.user]) || "";
  switch (change.kind) {
    case "userUpdated":
      return host.apply({ type: "user.updated", userId });
    case "userCreated":
      return host.apply({ type: "user.created", userId });
    case "userDeleted":
      await host.deleteUser(change.user);
      return host.apply({ type: "user.deleted", userId });
    case "userErased":
      await host.deleteUser(change.user);
      return host.apply({ type: "user.erased", userId });
    case "tokensEnded":
      await host.endTokens(change.user);
      return host.apply({ type: "tokens.ended", userId });
    case "allTokensEnded":
      await host.endTokens(null);
      return host.apply({ type: "tokens.ended", userId: null });
    case "roomUpdated":
      return host.apply({ type: "room.updated" });
    case "roomClosed":
      await host.setState("closed");
      return host.apply({ type: "room.closed" });
    case "roomOpened":
      await host.setState("active");
      return host.apply({ type: "room.updated" });
    case "participant added":
      return host.addParticipant(change.user, change.ttl);
    case "removed":
      return host.request({ type: "PARTICIPANT_REMOVE", data: { userId } });
    case "write":
      return host.request({
        type: "STORE_SET",
        data: { store: "s", key: `rest-${change.key}`, value: change.key },
      });
    case "comment":
      return host.request({
        type: "COMMENT_CREATE",
        data: { text: "of the organization", mentions: [] },
        reader: { subject: host.userIds[0] ?? "", userId: host.userIds[0] ?? "" },
      });
    case "broadcast":
      return host.request({ type: "BROADCAST", data: { event: "news" } });
  }
}
