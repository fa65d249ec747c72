/** A customer across the network: its back end uses REST, its users' browsers use WebSockets. */

import type { Room } from "@atrium/contract/resources/room.ts";
import type { User, UserSession } from "@atrium/contract/resources/user.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import type { Organization, Service } from "../cli/service.ts";

/** Fields of a response that tests read. */
export interface Answer<Data> {
  readonly status: number;
  readonly data: Data;
  readonly error: { readonly module: string; readonly code: string; readonly message: string } | null;
}

interface Message {
  readonly type: "response" | "event";
  readonly event?: string;
  readonly success?: boolean;
  readonly data: Record<string, unknown>;
}

/** A user's connection: its received messages, and its close. */
export class RoomTab {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<CloseEvent>;

  private constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.addEventListener("message", ({ data }) => this.messages.push(JSON.parse(String(data))));
    this.closed = new Promise((resolve) => this.socket.addEventListener("close", resolve));
  }

  /** Opens a connection, sends JOIN_ROOM, and waits for the response or the close. */
  static async join(url: string, token: string): Promise<RoomTab> {
    const tab = new RoomTab(url);
    tab.socket.addEventListener("open", () => tab.send("JOIN_ROOM", { token }));
    await Promise.race([
      new Promise((resolve) => tab.socket.addEventListener("message", resolve, { once: true })),
      tab.closed,
    ]);
    return tab;
  }

  send(type: string, data: object = {}): void {
    this.socket.send(JSON.stringify({ type, data }));
  }
}

export class Customer {
  readonly service: Pick<Service, "url">;
  readonly organization: Organization;

  constructor(service: Pick<Service, "url">, organization: Organization) {
    this.service = service;
    this.organization = organization;
  }

  get base(): string {
    return `${this.service.url}/v1/accounts/${this.organization.accountId}`;
  }

  /** Sends a request; when the organization has sent too many, again after the pause that the response asks for. */
  async send<Data>(method: string, path: string, body?: unknown): Promise<Answer<Data>> {
    const response = await fetch(this.base + path, {
      method,
      headers: { Authorization: `Bearer ${this.organization.bearer}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as Answer<Data>;
    if (response.status !== 429) return { status: response.status, data, error };
    const pauseMs = Number(response.headers.get("Retry-After")) * 1_000;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return this.send(method, path, body);
  }

  createRoom = async (): Promise<Room> =>
    (await this.send<{ room: Room }>("POST", "/rooms", { name: "A room" })).data.room;

  createUser = async (roomId: string, name = "A user"): Promise<UserWithToken> =>
    (await this.send<{ user: UserWithToken }>("POST", "/users", { name, roomId })).data.user;

  getRoom = async (roomId: string) =>
    (await this.send<{ room: Room; users: User[] }>("GET", `/rooms/${roomId}`)).data;

  getUser = async (user: User) =>
    (
      await this.send<{ user: UserWithToken; sessions: UserSession[] }>(
        "GET",
        `/users/${user.id}?roomId=${user.room_id}`,
      )
    ).data;

  /** The room as lists show it, from the projection in D1. */
  listedRoom = async (roomId: string): Promise<Room | undefined> =>
    (await this.send<{ rooms: Room[] }>("GET", "/rooms")).data.rooms.find(({ id }) => id === roomId);

  join = (user: UserWithToken): Promise<RoomTab> =>
    RoomTab.join(`${this.base.replace("http", "ws")}/rooms/${user.room_id}/socket`, user.token);
}
