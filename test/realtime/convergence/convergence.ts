/** Members of a room who work, vanish and come back, in whichever world the room lives. */
import { expect } from "vitest";
import type { Comment } from "../../../src/realtime/protocol/comment.ts";
import { type Content, checkAgreement } from "./checks.ts";
import { Client, type View, viewOf, type Request } from "./client.ts";
import { COUNTER, STORE } from "./log.ts";
import { requestOf } from "./requests.ts";
import type { RequestStep, Step, Scenario } from "./steps.ts";
import type { Environment } from "./environment.ts";

const COMMENTS_A_PAGE = 100;

/** Lets happen what a tale says, and checks what it comes to. */
export async function runScenario(world: Environment, [, steps]: Scenario): Promise<void> {
  const convergence = new Convergence(world);
  for (const step of steps) await convergence.run(step);
  await convergence.finish();
}

export class Convergence {
  readonly clients: readonly Client[];
  readonly #world: Environment;
  #requests = 0;

  constructor(world: Environment) {
    this.#world = world;
    this.clients = world.userIds.map((userId) => new Client(userId));
  }

  /** Picks are taken modulo what there is to pick from. */
  #client(pick: number): Client {
    const client = this.clients[pick % this.clients.length];
    if (client === undefined) throw new Error("There is no client");
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
      case "show":
        return this.showPresence(this.#client(step.who), step.value);
      case "flush":
      case "hibernate":
        return this.#world.idle(step.type);
      case "crash":
        return this.crash();
      default:
        return this.request(step);
    }
  }

  /** Comes back to where it was, and says again what nobody heard or answered. */
  async join(client: Client): Promise<void> {
    if (client.connection !== null) return;
    const wire = await this.#world.open(client.userId, client.lastSeq, (message) => client.receive(message));
    if (wire === null) return;
    client.connection = wire;
    const data = { target: "*", on: true };
    wire.send({ type: "PRESENCE_SUBSCRIBE", requestId: "subscribe", data });
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

  showPresence(client: Client, value: number | null): void {
    if (client.connection === null) return;
    client.shown = value;
    const state = value === null ? null : { value };
    client.connection.send({ type: "PRESENCE_UPDATE", data: { state } });
  }

  /** Asks for something that lasts, marked so that its changes can be told from all others. */
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

  /** Nobody is connected once the room has crashed. */
  async crash(crashed: Promise<void> = this.#world.crash()): Promise<void> {
    await crashed;
    for (const client of this.clients) client.connection = null;
  }

  /** Nothing moves any more: first those who are there must agree on it, and then all. */
  async finish(): Promise<void> {
    for (const client of this.clients) this.#resend(client);
    await this.#checkPictures();
    for (const client of this.clients) await this.join(client);
    for (const client of this.clients) this.#resend(client);
    await this.#checkPictures();
    // Frames keep their order: whatever was sent to a member before this is answered has arrived then.
    await Promise.all(
      this.clients.map((client) => this.#answer(client, "STORE_GET", { store: STORE, key: COUNTER })),
    );
    checkAgreement(this.clients, await this.#readContent());
  }

  /** Members see who is there and what each of them shows, and of those who are away, nothing. */
  async #checkPictures(): Promise<void> {
    const present = this.clients.filter(({ connection }) => connection !== null);
    const expected = viewOf(
      present.map(({ userId }) => userId),
      present.flatMap(({ userId, shown }) => (typeof shown === "number" ? [[userId, shown] as const] : [])),
    );
    const sees = ({ view }: Client) => JSON.stringify(view) === JSON.stringify(expected);
    await this.#world.settle(() => present.every((client) => client.pending.size === 0 && sees(client)));
    const pictures: readonly View[] = present.map(({ view }) => view);
    expect(pictures).toEqual(present.map(() => expected));
    for (const { pending } of present) expect([...pending.values()]).toEqual([]);
    expect((await this.#world.overview()).participants).toBe(present.length);
  }

  /** As somebody sees it who joins for the first time, in a further tab of the first user. */
  async #readContent(): Promise<Content> {
    const newcomer = new Client(this.#client(0).userId);
    await this.join(newcomer);
    const { changes = [], follows = {} } = newcomer.joined ?? {};
    const { entries } = (await this.#answer(newcomer, "STORE_SYNC", { store: STORE })) as Content;
    const comments: Comment[] = [];
    for (let total = 1; comments.length < total; ) {
      const page = { limit: COMMENTS_A_PAGE, offset: comments.length };
      const listed = (await this.#answer(newcomer, "COMMENT_LIST", page)) as CommentPage;
      comments.push(...listed.comments);
      total = listed.total;
    }
    newcomer.connection?.cut();
    expect((await this.#world.overview()).entries).toBe(Object.keys(entries).length);
    return { changes, follows, entries, comments };
  }

  /** Asks for something that lasts not, and waits for the answer. */
  async #answer(client: Client, type: string, data: Request["data"]): Promise<object> {
    this.#requests += 1;
    const requestId = `question-${this.#requests}`;
    client.pending.set(requestId, { type, requestId, data });
    client.connection?.send({ type, requestId, data });
    await this.#world.settle(() => client.answered.has(requestId));
    const answer = client.answered.get(requestId);
    expect(answer, type).toBeDefined();
    return answer?.response.data ?? {};
  }
}

interface CommentPage {
  readonly comments: readonly Comment[];
  readonly total: number;
}
