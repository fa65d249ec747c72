/** The room's object for the fuzzer, with its database, its alarms and real sockets. */

import { env } from "cloudflare:workers";
import { AppError } from "@atrium/contract/errors.ts";
import type { InputOf } from "@atrium/contract/operations/room.ts";
import { expect } from "vitest";
import { CLOSE } from "../../../src/room/protocol/protocol.ts";
import type { RoomRequest } from "../../../src/room/protocol/room-request.ts";
import type { RoomCommand } from "../../../src/room/types/room-object.ts";
import { gateway, makeRoom, type TestRoom, type TestUser, tokens } from "../support/rooms.ts";
import { copyStored } from "./backup.ts";
import type { Host, Line, Receiver, RoomState } from "./host.ts";
import { USERS, VIEWER } from "./steps.ts";

/** Time per frame in which a user's budget refills. */
const FRAME_MS = 20;
const GRACE_MS = 10_000;
/** Bound of docs/protocol.md on a room's storage beside its content, however long it lives. */
const MAX_PAGES_BYTES = 64 * 1024 * 1024;

/** A client's end of a real socket. */
class ObjectLine implements Line {
  readonly #socket: WebSocket;
  readonly #receiver: Receiver;
  /** Callers that wait for a pong, in order. */
  readonly #waiting: (() => void)[] = [];
  isClosed = false;
  /** The client's end closes without an event here. */
  #isCut = false;
  /** The error that the receiver threw. */
  failure: unknown = null;

  constructor(socket: WebSocket, receiver: Receiver) {
    this.#socket = socket;
    this.#receiver = receiver;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    socket.addEventListener("close", ({ code }) => {
      this.isClosed = true;
      if (!this.#isCut) this.#guard(() => this.#receiver.close(code));
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
    socket.accept();
  }

  #receive(data: string | ArrayBuffer): void {
    if (data === "pong") this.#waiting.shift()?.();
    else if (!this.#isCut)
      this.#guard(() => this.#receiver.receive(typeof data === "string" ? data : new Uint8Array(data)));
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.failure ??= error;
    }
  }

  get isOpen(): boolean {
    return !this.isClosed && !this.#isCut;
  }

  async send(frame: string | ArrayBuffer): Promise<void> {
    if (!this.isOpen) return;
    this.#socket.send(frame);
    await this.reach();
  }

  async cut(): Promise<void> {
    if (!this.isOpen) return;
    this.#isCut = true;
    this.#socket.close(1000, "cut");
  }

  /** The connection ends with its object: frames on their way are lost. */
  lose(): void {
    if (!this.isOpen) return;
    this.#isCut = true;
    this.#guard(() => this.#receiver.close(CLOSE.failed));
  }

  /** Resolves when everything that was sent by now has arrived, in both directions. */
  async reach(): Promise<void> {
    if (!this.isOpen) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#socket.send("ping");
    });
  }
}

/** Refusals are answers; nothing else may fail. */
function requireRefusal(error: unknown): void {
  if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
}

/** A user's row, as far as it changes. */
interface Person {
  readonly user: TestUser;
  epoch: number;
}

export class FuzzedObject implements Host {
  state: RoomState = "active";
  /** Nothing fails here. */
  readonly faults = 0;
  readonly #room: TestRoom;
  readonly #people: readonly Person[];
  readonly #lines: { readonly line: ObjectLine; readonly pings: boolean }[] = [];
  #accountEpoch = 0;
  #backup: (() => void) | null = null;

  private constructor(room: TestRoom, users: readonly TestUser[]) {
    this.#room = room;
    this.#people = users.map((user) => ({ user, epoch: 0 }));
  }

  static async create(): Promise<FuzzedObject> {
    const room = await makeRoom();
    const users: TestUser[] = [];
    for (const index of USERS.keys())
      users.push(await room.user({ role: index === VIEWER ? "viewer" : "editor" }));
    return new FuzzedObject(room, users);
  }

  get userIds(): readonly string[] {
    return this.#people.map(({ user }) => user.user.id);
  }

  async token(index: number): Promise<string> {
    const person = this.#people[index];
    if (person === undefined) return "";
    const epochs = { tokenEpoch: person.epoch, accountTokenEpoch: this.#accountEpoch };
    return tokens.sign({ ...person.user.user, ...epochs, identityId: null, identityEpoch: null });
  }

  async open(receiver: Receiver, pings: boolean): Promise<Line> {
    await this.#room.inside(() => undefined);
    const upgrade = new Request("https://atrium.test/socket", {
      headers: { Upgrade: "websocket", "CF-Connecting-IP": "192.0.2.1" },
    });
    const { webSocket } = await gateway.connect(this.#room.id, this.#room.accountId, upgrade);
    if (webSocket === null) throw new Error("The upgrade returned no socket");
    const line = new ObjectLine(webSocket, receiver);
    this.#lines.push({ line, pings });
    return {
      send: (frame) => {
        this.#room.now += FRAME_MS;
        return line.send(frame);
      },
      cut: () => line.cut(),
    };
  }

  #idOf(index: number): string {
    return this.userIds[index] ?? "";
  }

  async #run(sql: string, ...params: readonly unknown[]): Promise<void> {
    await env.DB.prepare(sql)
      .bind(...params)
      .run();
  }

  async apply(command: RoomCommand): Promise<void> {
    await this.#room.apply(command);
  }

  async deleteUser(user: number): Promise<void> {
    await this.#run("DELETE FROM users WHERE id = ?", this.#idOf(user));
  }

  async endTokens(user: number | null): Promise<void> {
    const next = "SET token_epoch = token_epoch + 1 WHERE id = ?";
    if (user === null) {
      this.#accountEpoch += 1;
      return this.#run(`UPDATE accounts ${next}`, this.#room.accountId);
    }
    const person = this.#people[user];
    if (person !== undefined) person.epoch += 1;
    return this.#run(`UPDATE users ${next}`, this.#idOf(user));
  }

  async setState(state: "active" | "closed"): Promise<void> {
    this.state = state;
    await this.#run("UPDATE rooms SET state = ? WHERE id = ?", state, this.#room.id);
  }

  async addParticipant(index: number, ttl: number): Promise<void> {
    const visit = { state: { user: index }, ttl };
    await gateway
      .addParticipant(this.#room.id, this.#room.accountId, this.#idOf(index), visit)
      .catch(requireRefusal);
  }

  async request({ type, data, ...options }: RoomRequest): Promise<void> {
    const { id, accountId } = this.#room;
    await gateway.call(id, accountId, type, data as InputOf<typeof type>, options).catch(requireRefusal);
  }

  async deleteRoom(): Promise<void> {
    if (this.state === "deleted") return;
    this.state = "deleted";
    await this.#room.deleteRow();
    await this.#room.apply({ type: "room.deleted" });
  }

  async settle(isSettled: () => boolean): Promise<void> {
    await expect
      .poll(async () => {
        this.#room.now += FRAME_MS;
        await this.flush();
        return isSettled();
      })
      .toBe(true);
  }

  async flush(): Promise<void> {
    await this.#reachAll();
    await this.#room.inside(() => scheduler.wait(0)); // frames may share the next turn, which pongs do not wait for
    await this.#reachAll();
    for (const { line } of this.#lines) if (line.failure !== null) throw line.failure;
  }

  async #reachAll(): Promise<void> {
    for (const { line } of this.#lines) await line.reach();
  }

  async hibernate(): Promise<boolean> {
    await this.flush();
    await this.#room.hibernate();
    return true;
  }

  /** Advances the clock. Clients that ping are heard before the alarm runs. */
  async advance(ms: number): Promise<void> {
    this.#room.now += ms;
    const mark = JSON.stringify({ type: "MARK", data: { mark: 1 } });
    for (const { line, pings } of this.#lines) if (pings) await line.send(mark);
    await this.#room.alarm();
    await this.flush();
  }

  async sweep(): Promise<void> {
    await this.#room.alarm();
  }

  async reconcile(): Promise<void> {
    if (this.state !== "deleted") await this.#room.reconcile();
  }

  async crash(): Promise<void> {
    for (const { line } of this.#lines) line.lose();
    await this.#room.crash();
  }

  async backUp(): Promise<void> {
    this.#backup = await this.#room.inside((_, { storage }) => copyStored(storage));
  }

  async restore(): Promise<boolean> {
    const putBack = this.#backup;
    if (putBack === null || this.state === "deleted") return false;
    await this.#room.inside(async (_, { storage }) => {
      putBack();
      await storage.sync();
    });
    await this.crash();
    return true;
  }

  async outlastGraces(): Promise<void> {
    const count = "SELECT count(*) AS count FROM grace_periods";
    const isOver = () =>
      this.#room.inside((_, { storage }) => storage.sql.exec<{ count: number }>(count).one().count === 0);
    while (!(await isOver())) await this.advance(GRACE_MS);
  }

  #waitingEvents(): Promise<number> {
    return this.#room.inside((_, { storage: { sql } }) => {
      const hasEvents = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'events'").toArray().length > 0;
      return hasEvents ? sql.exec<{ n: number }>("SELECT count(*) AS n FROM events").one().n : 0;
    });
  }

  async checkGrowth(): Promise<void> {
    await this.flush();
    const { sockets, bytes } = await this.#room.inside((_, state) => ({
      sockets: state.getWebSockets().length,
      bytes: state.storage.sql.databaseSize,
    }));
    expect(sockets, "sockets in the object").toBe(this.#lines.filter(({ line }) => line.isOpen).length);
    expect(bytes, "the object's database").toBeLessThan(MAX_PAGES_BYTES);
    await expect.poll(() => this.#waitingEvents(), { message: "events that wait" }).toBe(0);
  }

  /** The database answers when it can, and nothing fails. */
  async hold(): Promise<void> {}
  failStorage(): void {}
  heal(): void {}
}
