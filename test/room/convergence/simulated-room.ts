/** The pure room in this process: no time passes, and only what the scenario says is lost. */
import { expect } from "vitest";
import { Room } from "../../../src/room/engine/room.ts";
import { serialize } from "../../../src/room/protocol/frame.ts";
import type { ServerMessage } from "../../../src/room/protocol/protocol.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { Effect, Joined, Waiting } from "../../../src/room/transport/connection.ts";
import type { UserRecord } from "../../../src/wire/user.ts";
import { ROOM } from "../support/rows.ts";
import type { ClientConnection, Environment, RoomOverview } from "./environment.ts";
import { STORE } from "./log.ts";

const MAX_PAGE = 3;

const userRecord = (id: string): UserRecord => ({
  id,
  accountId: "account",
  roomId: "room",
  name: id,
  profilePicture: null,
  customId: null,
  role: "editor",
  createdAt: 0,
});

export class SimulatedRoom implements Environment {
  readonly userIds: readonly string[];
  readonly #storage: () => RoomStorage;
  readonly #attachments = new Map<string, Waiting | Joined>();
  /** Who receives the messages of each open socket, by its id. */
  readonly #receivers = new Map<string, (message: ServerMessage) => void>();
  #room: Room;
  #ids = 0;
  #now = 1_000_000;
  #presenceHasChanged = false;

  /** `storage` is called whenever the room starts. */
  constructor(storage: () => RoomStorage, users: number) {
    this.userIds = Array.from({ length: users }, (_, index) => `user-${index}`);
    this.#storage = storage;
    this.#room = this.#start();
  }

  #start(): Room {
    return new Room({
      storage: this.#storage(),
      now: () => this.#now,
      newId: () => this.#newId("id"),
      graceMs: 0, // the model knows at each moment who is online
      roomId: () => ROOM.id,
      storeQuotaBytes: 1024 ** 3,
      trailKeptMs: Number.POSITIVE_INFINITY,
      lastPingAt: () => null,
      answerableIn: () => 0,
      canTakeMore: () => true,
      closingOf: () => 0,
      report: (_, error) => {
        throw error;
      },
    });
  }

  #newId(kind: string): string {
    this.#ids += 1;
    return `${kind}-${this.#ids}`;
  }

  async open(
    userId: string,
    since: number,
    receive: (message: ServerMessage) => void,
  ): Promise<ClientConnection> {
    const id = this.#newId("socket");
    this.#receivers.set(id, receive);
    this.#perform(this.#room.open(id, "192.0.2.1"));
    const connection: ClientConnection = {
      send: (message) => this.#receive(id, message),
      cut: (last) => {
        this.#receivers.delete(id);
        this.#attachments.delete(id);
        if (last !== undefined) this.#receive(id, last);
        this.#perform(this.#room.close(id, false));
      },
    };
    const usersLimit = 1 + (this.#ids % MAX_PAGE); // small pages, so that others come and go between them
    connection.send({ type: "JOIN_ROOM", data: { token: userId, since, usersLimit } });
    return connection;
  }

  #receive(id: string, message: object): void {
    this.#now += 7;
    this.#perform(this.#room.messages.receive(id, JSON.stringify(message)));
  }

  async idle(how: "flush" | "hibernate"): Promise<void> {
    this.#flush(); // a room with a timer running does not hibernate
    if (how === "hibernate") this.#restart();
  }

  async crash(): Promise<void> {
    this.#receivers.clear();
    this.#attachments.clear();
    this.#restart();
  }

  async settle(): Promise<void> {
    this.#flush();
  }

  #restart(): void {
    this.#presenceHasChanged = false;
    this.#room = this.#start();
    this.#perform(this.#room.restore([...this.#attachments.values()]));
  }

  #flush(): void {
    if (!this.#presenceHasChanged) return;
    this.#presenceHasChanged = false;
    this.#perform(this.#room.flush(0));
  }

  async overview(): Promise<RoomOverview> {
    const { entries } = this.#storage().entries.size(STORE);
    return { participants: this.#room.stats.activeParticipants, entries };
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) this.#do(effect);
    for (const { seq } of this.#storage().events.list(1_000)) this.#storage().events.delete(seq);
  }

  #do(effect: Effect): void {
    switch (effect.type) {
      case "send":
        for (const id of effect.to) this.#receivers.get(id)?.(JSON.parse(serialize(effect.message)));
        break;
      case "attach":
        if (this.#receivers.has(effect.connection.id))
          this.#attachments.set(effect.connection.id, effect.connection);
        break;
      case "countDelivery":
        break;
      case "presenceChanged":
        this.#presenceHasChanged = true;
        break;
      case "authorizeJoin": {
        const { id, request } = effect;
        const user = userRecord(request.token);
        this.#perform(
          this.#room.handshake.complete(id, {
            approved: true,
            room: ROOM,
            user,
            ceiling: user.role,
            tokenExpiresAt: 1e15,
          }),
        );
        break;
      }
      case "queryDatabase":
        this.#perform(this.#room.questions.answer(effect, { userExists: true }));
        break;
      case "checkUsers":
        break; // all of them exist
      default:
        expect.unreachable(`${effect.type} is unexpected`);
    }
  }
}
