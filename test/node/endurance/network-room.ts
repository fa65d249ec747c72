/** A room of the running service for the convergence model: with real sockets and real crashes. */

import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import WebSocket from "ws";
import { PING, PONG, type ServerMessage } from "../../../src/room/protocol/protocol.ts";
import type { ClientConnection, Environment, RoomOverview } from "../../room/convergence/environment.ts";
import { STORE } from "../../room/convergence/log.ts";
import { eventually } from "../cli/processes.ts";
import { Customer } from "../stories/client.ts";
import type { KillableService } from "./killable-service.ts";

const SETTLING_DEADLINE_MS = 60_000;
const PING_INTERVAL_MS = 25_000;

/**
 * The service is killed once users have received this many more frames, and a little later. Until then this
 * process is blocked: the service handles earlier messages, and its answers wait to be read.
 */
export interface KillMoment {
  readonly frames: number;
  readonly lateMs: number;
}

export class NetworkRoom implements Environment {
  readonly #service: KillableService;
  readonly #customer: Customer;
  readonly #roomId: string;
  readonly #users: ReadonlyMap<string, UserWithToken>;
  readonly #sockets = new Set<WebSocket>();
  /** Errors in event listeners, which have no caller to throw to. */
  readonly #problems: unknown[] = [];
  #isDead = false;
  #beforeFrame: () => void = () => {};

  private constructor(service: KillableService, customer: Customer, users: readonly UserWithToken[]) {
    this.#service = service;
    this.#customer = customer;
    this.#roomId = users[0]?.room_id ?? "";
    this.#users = new Map(users.map((user) => [user.id, user]));
  }

  /** Creates a room and its users. */
  static async create(service: KillableService, members: number): Promise<NetworkRoom> {
    const customer = new Customer(service, service.organization);
    const { id } = await customer.createRoom();
    const names = Array.from({ length: members }, (_, index) => `Member ${index}`);
    const users = await Promise.all(names.map((name) => customer.createUser(id, name)));
    return new NetworkRoom(service, customer, users);
  }

  get userIds(): readonly string[] {
    return [...this.#users.keys()];
  }

  open(
    userId: string,
    since: number,
    hear: (message: ServerMessage) => void,
  ): Promise<ClientConnection | null> {
    const address = `${this.#customer.base.replace("http", "ws")}/rooms/${this.#roomId}/socket`;
    const socket = new WebSocket(address, { perMessageDeflate: false });
    this.#sockets.add(socket);
    const pings = setInterval(() => socket.send(PING, () => {}), PING_INTERVAL_MS);
    const { promise, resolve } = Promise.withResolvers<ClientConnection | null>();
    socket.once("open", () => {
      const token = this.#users.get(userId)?.token;
      socket.send(JSON.stringify({ type: "JOIN_ROOM", data: { token, since } }));
    });
    socket.on("message", (frame) => {
      this.#beforeFrame();
      this.#try(() => {
        if (String(frame) !== PONG) hear(parseMessage(String(frame)));
      });
    });
    socket.once("message", () => resolve(this.#wireOf(socket)));
    socket.on("error", () => {}); // a close follows
    socket.once("close", (code) => {
      clearInterval(pings);
      resolve(null);
      const isExpected = !this.#sockets.delete(socket) || this.#isDead;
      if (!isExpected) this.#problems.push(new Error(`The service closed a socket with ${code}`));
    });
    return promise;
  }

  #wireOf(socket: WebSocket): ClientConnection {
    const send = (message: object) => socket.send(JSON.stringify(message), () => {}); // fails after a crash
    return {
      send,
      cut: (last) => {
        socket.removeAllListeners("message");
        if (last !== undefined) send(last);
        this.#sockets.delete(socket);
        socket.terminate();
      },
    };
  }

  /** Keeps an error until a caller asks: an event emitter has no one to throw to. */
  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#problems.push(error);
    }
  }

  async crash(): Promise<void> {
    this.#isDead = true;
    await this.#service.kill();
    // A user may receive earlier messages until its socket closes.
    await eventually("the sockets are closed", () => this.#sockets.size === 0);
    this.#throwProblems();
    await this.#service.start();
    this.#isDead = false;
  }

  /** Kills the service at the given moment. */
  async crashAt({ frames, lateMs }: KillMoment): Promise<void> {
    const crashes: Promise<void>[] = [];
    let left = frames;
    this.#beforeFrame = () => {
      left -= 1;
      if (left !== 0) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lateMs);
      crashes.push(this.crash());
    };
    await this.settle(() => crashes.length > 0);
    this.#beforeFrame = () => {};
    if (crashes.length === 0)
      throw new Error(`The service was not killed: ${left} more frames were expected`);
    await Promise.all(crashes);
  }

  /** A running room hibernates when it chooses to. */
  async idle(): Promise<void> {}

  async settle(isSettled: () => boolean): Promise<void> {
    const isOver = () => this.#problems.length > 0 || isSettled();
    await eventually("the room has settled", isOver, SETTLING_DEADLINE_MS).catch(() => undefined);
    this.#throwProblems();
  }

  #throwProblems(): void {
    if (this.#problems.length > 0) throw new AggregateError(this.#problems, String(this.#problems[0]));
  }

  async overview(): Promise<RoomOverview> {
    const { room } = await this.#customer.getRoom(this.#roomId);
    const { data } = await this.#customer.send<StoreList>("GET", `/rooms/${this.#roomId}/stores`);
    const entries = data.stores.find(({ name }) => name === STORE)?.entries ?? 0;
    return { participants: room.active_participants, entries };
  }

  /** Waits until lists, which read the projection in D1, show this number of participants. */
  copied(participants: number): Promise<void> {
    return eventually("the list of rooms is up to date", async () => {
      return (await this.#customer.listedRoom(this.#roomId))?.active_participants === participants;
    });
  }

  /** Closes all sockets. */
  dispose(): void {
    this.#isDead = true;
    for (const socket of this.#sockets) socket.terminate();
  }
}

interface StoreList {
  readonly stores: readonly { readonly name: string; readonly entries: number }[];
}

/** Parses a message of the service, which the model checks. */
function parseMessage(frame: string): ServerMessage {
  return JSON.parse(frame) as ServerMessage;
}
