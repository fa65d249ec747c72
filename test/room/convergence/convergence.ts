/** Clients of a room who work, disconnect and reconnect, in a simulated or a real room. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import { expect } from "vitest";
import { type Content, checkAgreement } from "./checks.ts";
import { Client, type Request, type View, viewOf } from "./client.ts";
import type { Environment } from "./environment.ts";
import { COUNTER, commentChangeOf, REACTION, STORE, storeChangeOf } from "./log.ts";
import type { RequestStep, Scenario, Step } from "./steps.ts";

/** A step's request, based on its client's knowledge of the room. */
export function requestOf(
  step: RequestStep,
  requestId: string,
  client: Client,
  clients: readonly Client[],
): Request {
  const request = (type: string, data: Request["data"]): Request => ({ type, requestId, data });
  const value = { mark: requestId };
  switch (step.type) {
    case "set":
      return request("STORE_SET", { store: STORE, key: `k${step.key}`, value });
    case "merge": {
      const merged = { ...value, [client.userId]: requestId };
      return request("STORE_UPDATE", { store: STORE, key: `k${step.key}`, value: merged });
    }
    case "remove":
      return request("STORE_DELETE", { store: STORE, key: `k${step.key}` });
    case "increment": {
      const latest = client.seen.map(storeChangeOf).findLast((change) => change?.key === COUNTER);
      const count = (latest?.value?.count ?? 0) + 1;
      const ifVersion = latest?.version ?? 0;
      return request("STORE_SET", { store: STORE, key: COUNTER, value: { ...value, count }, ifVersion });
    }
    case "batch": {
      const set = (key: string) => ({ type: "STORE_SET", store: STORE, key, value });
      return request("STORE_BATCH", { operations: [set("k0"), set("k1"), set(`b${client.userId}`)] });
    }
    case "comment":
      return request("COMMENT_CREATE", { text: requestId });
    case "edit": {
      const commentId = findComment(client, client.userId)?.id;
      if (commentId === undefined) return request("COMMENT_CREATE", { text: requestId });
      return request("COMMENT_UPDATE", { commentId, text: requestId });
    }
    case "react": {
      const commentId = findComment(client, null)?.id;
      if (commentId === undefined) return request("COMMENT_CREATE", { text: requestId });
      return request("COMMENT_REACT", { commentId, reaction: REACTION });
    }
    case "follow":
    case "unfollow": {
      const others = clients.filter((other) => other !== client);
      const whom = others[step.whom % others.length]?.userId;
      return request(step.type === "follow" ? "USER_FOLLOW" : "USER_UNFOLLOW", { userId: whom });
    }
  }
}

/** The first comment that the client knows of, by one author or by anyone. */
function findComment({ seen }: Client, author: string | null): Comment | undefined {
  const comments = seen.flatMap((change) => commentChangeOf(change)?.comment ?? []);
  return comments.find(({ user_id }) => author === null || user_id === author);
}

const COMMENTS_A_PAGE = 100;

/** Runs a scenario, and checks its result. */
export async function runScenario(environment: Environment, [, steps]: Scenario): Promise<void> {
  const convergence = new Convergence(environment);
  for (const step of steps) await convergence.run(step);
  await convergence.finish();
}

export class Convergence {
  readonly clients: readonly Client[];
  readonly #environment: Environment;
  #requests = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.clients = environment.userIds.map((userId) => new Client(userId));
  }

  /** `pick` is taken modulo the number of clients. */
  #client(pick: number): Client {
    const client = this.clients[pick % this.clients.length];
    if (client === undefined) throw new Error("The scenario has no clients");
    return client;
  }

  async run(step: Step): Promise<void> {
    switch (step.type) {
      case "join":
        return this.join(this.#client(step.who));
      case "vanish":
        return this.#vanish(this.#client(step.who));
      case "resend":
        return this.#resend(this.#client(step.who));
      case "read":
        return this.#readPage(this.#client(step.who));
      case "show":
        return this.showPresence(this.#client(step.who), step.value);
      case "flush":
      case "hibernate":
        return this.#environment.idle(step.type);
      case "crash":
        return this.crash();
      default:
        return this.request(step);
    }
  }

  /** Reconnects with the last seen change, and resends lost and unanswered requests. */
  async join(client: Client): Promise<void> {
    if (client.connection !== null) return;
    const connection = await this.#environment.open(client.userId, client.lastSeq, (message) =>
      client.receive(message),
    );
    if (connection === null) return;
    client.connection = connection;
    const numbers = this.clients.indexOf(client) % 2 === 0;
    const data = { target: "*", on: true, numbers };
    connection.send({ type: "PRESENCE_SUBSCRIBE", requestId: "subscribe", data });
    if (client.shown !== undefined) this.showPresence(client, client.shown);
    for (const request of client.pending.values()) client.unsent.add(request);
    this.#resend(client);
  }

  #vanish(client: Client): void {
    client.connection?.cut();
    client.connection = null;
  }

  #resend({ connection, unsent }: Client): void {
    if (connection === null) return;
    for (const request of unsent) connection.send(request);
    unsent.clear();
  }

  /** Reads the next page of the users online, if there is one. */
  #readPage({ connection, nextPage: after }: Client): void {
    if (after !== null)
      connection?.send({ type: "USERS_ONLINE", requestId: "page", data: { after, limit: 1 } });
  }

  showPresence(client: Client, value: number | null): void {
    if (client.connection === null) return;
    client.shown = value;
    const state = value === null ? null : { value };
    client.connection.send({ type: "PRESENCE_UPDATE", data: { state } });
  }

  /** Sends a request that makes lasting changes. */
  request(step: RequestStep): void {
    const client = this.#client(step.who);
    this.#requests += 1;
    const request = requestOf(step, `request-${this.#requests}`, client, this.clients);
    client.pending.set(request.requestId, request);
    if (step.lost === "request") client.unsent.add(request);
    if (client.connection === null || step.lost === "request") return;
    if (step.lost === "nothing") {
      client.connection.send(request);
    } else {
      client.connection.cut(request);
      client.connection = null;
    }
  }

  /** No one is connected after the room has crashed. */
  async crash(crashed: Promise<void> = this.#environment.crash()): Promise<void> {
    await crashed;
    for (const client of this.clients) client.connection = null;
  }

  /** Everything has come to rest: first the connected clients must agree, then all of them. */
  async finish(): Promise<void> {
    for (const client of this.clients) this.#resend(client);
    await this.#checkViews();
    for (const client of this.clients) await this.join(client);
    for (const client of this.clients) this.#resend(client);
    await this.#checkViews();
    // Frames keep their order: when this is answered, everything sent to the client before has arrived.
    await Promise.all(
      this.clients.map((client) => this.#read(client, "STORE_GET", { store: STORE, key: COUNTER })),
    );
    checkAgreement(this.clients, await this.#readContent());
  }

  /** The connected clients see each other with their presence, and no one else. */
  async #checkViews(): Promise<void> {
    const present = this.clients.filter(({ connection }) => connection !== null);
    for (const client of present)
      while (client.nextPage !== null) {
        const before = client.nextPage;
        this.#readPage(client);
        await this.#environment.settle(() => client.nextPage !== before);
      }
    const expected = viewOf(
      present.map(({ userId }) => userId),
      present.flatMap(({ userId, shown }) => (typeof shown === "number" ? [[userId, shown] as const] : [])),
    );
    const hasExpectedView = ({ view }: Client) => JSON.stringify(view) === JSON.stringify(expected);
    await this.#environment.settle(() =>
      present.every((client) => client.pending.size === 0 && hasExpectedView(client)),
    );
    const views: readonly View[] = present.map(({ view }) => view);
    expect(views).toEqual(present.map(() => expected));
    for (const { pending } of present) expect([...pending.values()]).toEqual([]);
    expect((await this.#environment.overview()).participants).toBe(present.length);
  }

  /** The content that a client receives that joins for the first time, in another tab of the first user. */
  async #readContent(): Promise<Content> {
    const newcomer = new Client(this.#client(0).userId);
    await this.join(newcomer);
    const { changes = [], follows = {} } = newcomer.joined ?? {};
    const { entries } = (await this.#read(newcomer, "STORE_SYNC", { store: STORE })) as Content;
    const comments: Comment[] = [];
    for (let total = 1; comments.length < total; ) {
      const page = { limit: COMMENTS_A_PAGE, offset: comments.length };
      const listed = (await this.#read(newcomer, "COMMENT_LIST", page)) as CommentPage;
      comments.push(...listed.comments);
      total = listed.total;
    }
    newcomer.connection?.cut();
    expect((await this.#environment.overview()).entries).toBe(Object.keys(entries).length);
    return { changes, follows, entries, comments };
  }

  /** Sends a request that changes nothing, and waits for its response. */
  async #read(client: Client, type: string, data: Request["data"]): Promise<object> {
    this.#requests += 1;
    const requestId = `read-${this.#requests}`;
    client.pending.set(requestId, { type, requestId, data });
    client.connection?.send({ type, requestId, data });
    await this.#environment.settle(() => client.answered.has(requestId));
    const answer = client.answered.get(requestId);
    if (answer === undefined) throw new Error(`The room has not answered ${type}`);
    return answer.response.data;
  }
}

interface CommentPage {
  readonly comments: readonly Comment[];
  readonly total: number;
}
