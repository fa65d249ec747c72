/**
 * A real client and the values of its React hooks, over a network, a back end and a device that fail as a test
 * says.
 */
import { AtriumClient, type TokenRequest } from "atrium/client";
import { RoomHandle } from "../../../../packages/sdk/react/room-handle.ts";
import { Clock } from "../clock.ts";
import { settle } from "./model-client.ts";
import type { ModelRoom } from "./model-room.ts";
import type { ModelSocket } from "./model-socket.ts";

/** How the back end answers the question for a token. */
export type BackEnd = "well" | "throws" | "hangs" | "garbage" | "null" | "forged" | "expired";

/** A token that the room accepts until `exp`, in seconds of the room's clock. */
export function tokenOf(userId: string, exp: number, isForged = false): string {
  const claims = { accountId: "account", roomId: "room", userId, iat: exp - 120, exp, isForged };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;
}

export const claimsOf = (token: unknown): { readonly exp: number; readonly isForged: boolean } =>
  JSON.parse(Buffer.from(String(token).split(".")[1] ?? "", "base64url").toString());

export class UnsteadyClient {
  readonly clock = new Clock();
  readonly client: AtriumClient;
  readonly handle: RoomHandle;
  readonly #room: ModelRoom;
  readonly sockets = new Set<ModelSocket>();
  /** Sockets whose network is dead without a word. */
  readonly #silent = new Set<ModelSocket>();
  backEnd: BackEnd = "well";
  isOffline = false;
  readonly acknowledged: { readonly key: string; readonly value: string }[] = [];
  readonly outcomes: Promise<unknown>[] = [];
  release: (() => void) | null = null;

  constructor(room: ModelRoom, userId: string) {
    this.#room = room;
    this.clock.open = () => this.#open(userId);
    this.clock.fetch = async (url) => {
      if (this.isOffline) throw new TypeError("Failed to fetch");
      return room.fetch(url, () => Promise.resolve());
    };
    const authToken = (request: TokenRequest) => this.#token(userId, request);
    this.client = new AtriumClient({ serverUrl: "http://localhost", authToken }, this.clock);
    this.handle = new RoomHandle(this.client, undefined, () => {});
  }

  #open(userId: string): WebSocket {
    const socket = this.#room.open(userId);
    this.sockets.add(socket);
    if (this.isOffline) queueMicrotask(() => socket.cut());
    return socket as unknown as WebSocket;
  }

  /** Seconds of the room's clock: the device's own may say anything. */
  get now(): number {
    return this.clock.now() / 1000;
  }

  async #token(userId: string, { signal }: TokenRequest): Promise<string | null> {
    switch (this.backEnd) {
      case "well":
        return tokenOf(userId, this.now + 120);
      case "throws":
        throw new Error("502");
      case "hangs":
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      case "garbage":
        return "<html>502 Bad Gateway</html>";
      case "null":
        return null;
      case "forged":
        return tokenOf(userId, this.now + 120, true);
      case "expired":
        return tokenOf(userId, this.now - 1);
    }
  }

  get openSockets(): ModelSocket[] {
    return [...this.sockets].filter(({ isOpen }) => isOpen);
  }

  write(key: string, value: string): void {
    const write = this.client.store("notes").set(key, value);
    this.outcomes.push(
      write.then(
        () => this.acknowledged.push({ key, value }),
        () => {},
      ),
    );
  }

  /** The network dies without a word. */
  silence(): void {
    for (const socket of this.openSockets) this.#silent.add(socket);
  }

  cut(): void {
    for (const socket of this.openSockets) socket.cut();
  }

  /** Delivers messages on their way, and lets time pass. */
  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 1) {
      await this.#deliver();
      this.clock.advance(1_000);
    }
    await this.#deliver();
  }

  async #deliver(): Promise<void> {
    let isIdle = false;
    while (!isIdle) {
      await settle();
      isIdle = true;
      for (const socket of this.openSockets.filter((each) => !this.#silent.has(each)))
        while (socket.deliverUp() || socket.deliverDown()) isIdle = false;
    }
  }
}
