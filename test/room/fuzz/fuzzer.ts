/** Plays a room's life: hostile clients send anything, one behaves well, and all of them must see the right state. */
import { expect } from "vitest";
import { CLOSE } from "../../../src/room/protocol/protocol.ts";
import { BY_VIEWER, contentOf } from "./copies.ts";
import { DOCUMENTS, type DocumentAct } from "./document-acts.ts";
import { type FrameSpec, frameOf, textOfFrame } from "./grammar.ts";
import { carryOut, type Host, type Line } from "./host.ts";
import { Order } from "./order.ts";
import { followName, type Known, newKnown, Peer } from "./peer.ts";
import { type RestChange, type Step, USERS, VIEWER } from "./steps.ts";
import { view } from "./view.ts";

interface Client {
  readonly peer: Peer;
  readonly line: Line;
  hasSentFirst: boolean;
}

const WELL_BEHAVED = 0;
/** Changes that only editors may make; a viewer may follow. */
const EDITED = new Set(["storeChanged", "commentCreated", "commentUpdated", "commentDeleted"]);
const MAX_DEPTH = 40;
const LONGEST_REQUEST_ID = 255;
/** A client's answer may make the room ask again: for each part of a document, and each mark. */
const ROUNDS = 20;

/** Runs a life on a host, and checks its end. */
export async function live(host: Host, steps: readonly Step[]): Promise<void> {
  const fuzzer = await Fuzzer.start(host);
  for (const step of steps) await fuzzer.run(step);
  await fuzzer.finish();
}

export class Fuzzer {
  readonly #host: Host;
  readonly #clients: Client[] = [];
  readonly #order = new Order();
  /** Knowledge of the well-behaved client. */
  #known: Known = newKnown(USERS[WELL_BEHAVED], 0);
  #epoch: string | undefined;
  #wellBehaved: Client | null = null;
  #lastSeq = 0;
  /** How the one who behaves well may be closed by now. */
  readonly #excused = new Set<number>();
  readonly #comments: string[] = [];
  #frames = 0;
  #isReset = false;

  private constructor(host: Host) {
    this.#host = host;
  }

  static async start(host: Host): Promise<Fuzzer> {
    const fuzzer = new Fuzzer(host);
    await fuzzer.#rejoin();
    return fuzzer;
  }

  async run(step: Step): Promise<void> {
    switch (step.type) {
      case "open":
        await this.#open(1, false);
        break;
      case "join":
        await this.#join(step);
        break;
      case "frame":
        await this.#sendTo(this.#pick(step.pick), step.frame);
        break;
      case "flood":
        for (let time = 0; time < step.times; time += 1) await this.#flood(this.#pick(step.pick), step.frame);
        break;
      case "document":
        await this.#actOn(this.#pick(step.pick), step.act);
        break;
      case "ordered":
        await this.#sendOrdered(this.#pick(step.pick), step.entries);
        break;
      case "cut":
        await this.#cut(this.#pick(step.pick));
        break;
      case "work":
        await this.#work(step.what);
        break;
      case "rest":
        await this.#change(step.change);
        break;
      case "database":
        await this.#host.hold(step.isHeld);
        break;
      case "fault":
        this.#host.failStorage(step.after);
        break;
      case "advance":
        await this.#host.advance(step.ms);
        break;
      case "crash":
        this.#excused.add(CLOSE.failed);
        await this.#host.crash();
        break;
      case "restore":
        this.#excused.add(CLOSE.failed);
        await this.#host.restore();
        break;
      case "deleteRoom":
        this.#excused.add(CLOSE.roomDeleted);
        await this.#host.deleteRoom();
        break;
      default:
        await this.#host[step.type]();
    }
    await this.#reply();
    this.#checkWellBehaved();
  }

  async #open(user: number, pings: boolean, known?: Known): Promise<Client> {
    const number = this.#clients.length;
    const name = `${USERS[user]} ${number}`;
    const peer = new Peer(name, this.#host.userIds[user] ?? "", known ?? newKnown(name, number + 1));
    const line = await this.#host.open(
      { receive: (frame) => peer.receive(frame), close: (code) => peer.close(code) },
      pings,
    );
    const client = { peer, line, hasSentFirst: false };
    this.#clients.push(client);
    peer.onEvent = (event) => {
      if (event.event === "commentCreated") this.#comments.push(event.data.comment.id);
      this.#order.notice(peer, event);
      const by = "by" in event.data ? event.data.by : null;
      if (EDITED.has(event.event)) expect(by, "a viewer's change").not.toBe(this.#host.userIds[VIEWER]);
      if (event.event === "broadcast")
        expect(event.data.from, "a viewer's broadcast").not.toBe(this.#host.userIds[VIEWER]);
    };
    return client;
  }

  async #join({ user, role, batch, since }: Extract<Step, { type: "join" }>): Promise<void> {
    const client = await this.#open(user, false);
    const token = await this.#host.token(user);
    const epoch = this.#epoch && { epoch: this.#epoch };
    const data = { token, role, batch, ...(since && { since: this.#lastSeq, ...epoch }) };
    await this.#send(client, frameOf("JOIN_ROOM", data));
  }

  async #actOn(client: Client | undefined, act: DocumentAct): Promise<void> {
    if (client?.peer.closed !== null || client.peer.joined === null) return;
    const { copies, joined } = client.peer;
    await this.#sendBytes(client, copies.act(act, joined.role));
  }

  async #sendBytes(
    { peer, line }: Client,
    { frame, updated }: { readonly frame: Uint8Array<ArrayBuffer>; readonly updated: string | null },
  ): Promise<void> {
    peer.expectAnswer(undefined, false); // the answer to a malformed frame
    if (updated !== null) peer.copies.countUpdate(updated);
    this.#frames += 1;
    const { faults } = this.#host;
    await line.send(frame.slice().buffer);
    if (this.#host.faults > faults) this.#excused.add(CLOSE.failed); // D1
  }

  /** Answers the room's questions to clients with documents, until there are none. */
  async #reply(): Promise<void> {
    for (const client of this.#clients) {
      const { copies } = client.peer;
      for (let reply = copies.replies.shift(); reply !== undefined; reply = copies.replies.shift())
        if (client.peer.closed === null) await this.#sendBytes(client, reply);
    }
  }

  /** Enough entries that the broadcast may have to wait behind them. */
  async #sendOrdered(client: Client | undefined, entries: number): Promise<void> {
    if (client?.peer.closed !== null || client.peer.joined === null) return;
    const number = this.#order.next();
    for (let left = entries - 1; left > 0; left -= 500) {
      const operations = Array.from({ length: Math.min(500, left) }, (_, index) => ({
        ...{ type: "set", store: "t", key: `many ${index}` },
        value: number,
      }));
      await this.#send(client, frameOf("STORE_BATCH", { operations }));
    }
    await this.#send(client, frameOf("STORE_SET", this.#order.writeOf(number)));
    await this.#send(client, frameOf("BROADCAST", this.#order.broadcastOf(number)));
  }

  /** Picks a client with an open socket, except the well-behaved one. */
  #pick(pick: number): Client | undefined {
    const open = this.#clients.filter(
      (client) => client.peer.closed === null && client !== this.#wellBehaved,
    );
    return open[pick % Math.max(1, open.length)];
  }

  async #sendTo(client: Client | undefined, frame: FrameSpec): Promise<void> {
    if (client?.peer.closed === null) await this.#send(client, frame);
  }

  /** A flood pauses its user on all sockets (R70): the one who behaves well has no tab that floods. */
  async #flood(client: Client | undefined, frame: FrameSpec): Promise<void> {
    if (client?.peer.joined?.user.id !== this.#host.userIds[WELL_BEHAVED]) await this.#sendTo(client, frame);
  }

  async #send(client: Client, spec: FrameSpec): Promise<string | undefined> {
    const frame = await this.#resolve(textOfFrame(spec));
    const { requestId, isJoin, isMark } = readFrame(frame);
    // A socket that has not joined is answered its first frame, if that is to join; otherwise it is closed, unless it has
    // joined by the time that the frame arrives.
    const isAnswered = client.peer.joined !== null || (isJoin && !client.hasSentFirst);
    client.peer.expectAnswer(requestId, isAnswered && !isMark);
    client.hasSentFirst = true;
    this.#frames += 1;
    await client.line.send(frame);
    return requestId;
  }

  /** Replaces names of the grammar by things that exist in the room. */
  async #resolve(frame: string | ArrayBuffer): Promise<string | ArrayBuffer> {
    if (typeof frame !== "string") return frame;
    const tokens = await Promise.all(USERS.map((_, user) => this.#host.token(user)));
    return frame
      .replaceAll('"@seq"', String(this.#lastSeq))
      .replaceAll("@id", () => `id-${this.#frames}`)
      .replaceAll(/@user(\d)/g, (_, user: string) => this.#host.userIds[Number(user)] ?? "")
      .replaceAll(/@comment(\d)/g, (_, back: string) => this.#comments.at(-1 - Number(back)) ?? "none")
      .replaceAll(/@token(\d)/g, (_, user: string) => JSON.stringify(tokens[Number(user)]).slice(1, -1));
  }

  async #cut(client: Client | undefined): Promise<void> {
    if (client === undefined) return;
    client.peer.closed ??= 1006;
    await client.line.cut();
  }

  async #change(change: RestChange): Promise<void> {
    if (change.kind === "roomClosed") this.#excused.add(CLOSE.forbidden);
    if (change.kind === "allTokensEnded") this.#excused.add(CLOSE.unauthorized);
    await carryOut(this.#host, change);
  }

  /** The well-behaved client joins, or joins again with its knowledge. */
  async #rejoin(): Promise<Client> {
    const { mirror, copies } = this.#known;
    this.#known = { mirror, copies: copies.reconnected(USERS[WELL_BEHAVED]) };
    const client = await this.#open(WELL_BEHAVED, true, this.#known);
    client.peer.seq = this.#lastSeq;
    this.#wellBehaved = client;
    this.#excused.clear();
    const token = await this.#host.token(WELL_BEHAVED);
    const since = { since: this.#lastSeq, ...(this.#epoch && { epoch: this.#epoch }) };
    await this.#send(client, frameOf("JOIN_ROOM", { token, batch: true, ...since }));
    await this.#settle();
    expect(client.peer.joined, "the one who behaves well joins").not.toBeNull();
    if (client.peer.wasReset) this.#lastSeq = 0;
    this.#epoch = client.peer.joined?.epoch;
    this.#isReset ||= client.peer.wasReset;
    client.peer.onMark = (mark) => void client.line.send(JSON.stringify({ type: "MARK", data: { mark } }));
    await this.#send(client, frameOf("PRESENCE_SUBSCRIBE", { target: "*", on: true, numbers: true }));
    for (const name of DOCUMENTS) await this.#actOn(client, { kind: "open", name });
    await this.#reply();
    return client;
  }

  /** Requests of the well-behaved client succeed, whatever others do. */
  async #work(what: Extract<Step, { type: "work" }>["what"]): Promise<void> {
    const client = this.#wellBehaved;
    if (client === null || client.peer.closed !== null) return;
    if (what === "type")
      return this.#actOn(client, { kind: "type", name: DOCUMENTS[0], at: this.#frames % 9 });
    const frames: Record<typeof what, FrameSpec> = {
      set: frameOf("STORE_SET", { store: "s", key: "mine", value: { frames: this.#frames } }),
      comment: frameOf("COMMENT_CREATE", { text: "a comment" }),
      present: frameOf("PRESENCE_UPDATE", { patch: { frames: this.#frames } }),
      follow: frameOf("USER_UNFOLLOW", { userId: this.#host.userIds[1] }),
      broadcast: frameOf("BROADCAST", { event: "hello" }),
    };
    const faults = this.#host.faults;
    const requestId = await this.#send(client, frames[what]);
    const error = client.peer.answers.get(requestId ?? "")?.error?.code;
    if (error === undefined || this.#host.faults > faults) return;
    expect(`${what}: ${error}`).toBe("broadcast: RATE_LIMITED");
  }

  /** Waits until clients have been answered, and have answered themselves. */
  async #settle(isSettled: () => boolean = () => true): Promise<void> {
    const areAnswered = () => this.#clients.every(({ peer }) => peer.closed !== null || peer.isAnswered);
    const isQuiet = () =>
      this.#clients.every(({ peer }) => peer.closed !== null || peer.copies.replies.length === 0);
    for (let round = 0; round < ROUNDS; round += 1) {
      await this.#host.settle(() => !isQuiet() || (areAnswered() && isSettled()));
      if (isQuiet()) return;
      await this.#reply();
    }
    throw new Error("The room asks clients of documents for ever");
  }

  #checkWellBehaved(): void {
    const peer = this.#wellBehaved?.peer;
    if (peer === undefined) return;
    this.#lastSeq = Math.max(this.#lastSeq, peer.seq);
    if (peer.closed !== null) expect([...this.#excused], "closes of who behaves well").toContain(peer.closed);
    if (this.#host.faults === 0)
      for (const each of this.#clients) expect(each.peer.internalErrors, "internal errors").toBe(0);
  }

  async finish(): Promise<void> {
    await this.#settle();
    this.#checkWellBehaved();
    this.#order.check();
    for (const { peer } of this.#clients) if (peer.closed === null) peer.checkAnswers();
    await this.#host.checkGrowth(this.#frames);
    if (this.#host.state === "deleted") return this.#checkDeleted();
    if (this.#host.state === "closed") await this.#change({ kind: "roomOpened" });
    await this.#settle();
    const client = this.#wellBehaved?.peer.closed === null ? this.#wellBehaved : await this.#rejoin();
    await this.#settle();
    await this.#host.outlastGraces();
    await this.#settle();
    const before = await this.#checkNewcomer(client.peer);
    expect(await this.#host.hibernate(), "the room is at rest").toBe(true);
    expect(await this.#checkNewcomer(client.peer)).toEqual(before);
  }

  async #checkDeleted(): Promise<void> {
    for (const { peer } of this.#clients)
      if (peer.joined !== null) expect(peer.closed, peer.name).not.toBeNull();
    const { peer } = await this.#joinAgain();
    expect(peer.closed).toBe(CLOSE.roomDeleted);
  }

  async #joinAgain(): Promise<Client> {
    const client = await this.#open(WELL_BEHAVED, false);
    const data = { token: await this.#host.token(WELL_BEHAVED) };
    await this.#send(client, frameOf("JOIN_ROOM", data));
    await this.#settle();
    return client;
  }

  /** A newcomer receives the same content that the client who never left knows. Returns it. */
  async #checkNewcomer(known: Peer): Promise<object> {
    const newcomer = await this.#joinAgain();
    const { joined } = newcomer.peer;
    if (joined === null) throw new Error(`A newcomer cannot join: ${newcomer.peer.closed}`);
    await this.#settle(() => known.knowsAll(joined));
    expect(known.closed).toBeNull();
    expect(known.seq).toBe(joined.seq);
    expect(new Set(joined.users.map(({ id }) => id)), "who is online").toEqual(known.onlineUsers);
    expect(joined.presence, "presence").toEqual(Object.fromEntries(known.presence));
    const ask = async (type: string, data: object): Promise<Record<string, unknown>> => {
      const requestId = await this.#send(newcomer, frameOf(type, data));
      await this.#settle();
      const answer = newcomer.peer.answers.get(requestId ?? "");
      expect(answer, type).toMatchObject({ success: true });
      return answer?.data ?? {};
    };
    const content = await view(this.#known.mirror, ask);
    const documents = await this.#checkDocuments(newcomer, known);
    const follows = Object.entries(joined.follows).flatMap(([follower, all]) =>
      all.map((followed) => followName(follower, followed)),
    );
    if (!this.#isReset) {
      expect(content).toEqual({
        entries: new Map([...this.#known.mirror.entries].sort(byName)),
        comments: [...this.#known.mirror.comments.values()],
      });
      expect(new Set(follows), "follows").toEqual(this.#known.mirror.follows);
    }
    await newcomer.line.cut();
    await this.#host.flush();
    const { users, presence, seq } = joined;
    return { users: users.map(({ id }) => id), presence, seq, follows, content, documents };
  }

  /** A client that opens a document now receives the content of the one who had it open all the time. */
  async #checkDocuments(newcomer: Client, known: Peer): Promise<object[]> {
    const contents: object[] = [];
    for (const name of DOCUMENTS) {
      await this.#actOn(newcomer, { kind: "open", name });
      await this.#settle(() => newcomer.peer.copies.synced.has(name));
      const content = contentOf(newcomer.peer.copies.get(name));
      expect(contentOf(known.copies.get(name)), `document ${name}`).toEqual(content);
      expect(content.text, "what a viewer typed").not.toContain(BY_VIEWER);
      contents.push(content);
    }
    return contents;
  }
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** Request id and kind of a frame that a client sends. */
function readFrame(frame: string | ArrayBuffer): {
  readonly requestId: string | undefined;
  readonly isJoin: boolean;
  readonly isMark: boolean;
} {
  const message = typeof frame === "string" ? parse(frame) : null;
  const fields = typeof message === "object" && message !== null && !Array.isArray(message) ? message : {};
  const { requestId, type } = fields as { readonly requestId?: unknown; readonly type?: unknown };
  const isReadable = typeof requestId === "string" && requestId.length <= LONGEST_REQUEST_ID;
  return {
    requestId: isReadable && !isDeeper(fields, MAX_DEPTH) ? requestId : undefined,
    isJoin: type === "JOIN_ROOM",
    isMark: type === "MARK",
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1)));
