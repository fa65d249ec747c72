/** Plays a room's life: hostile clients send anything, one behaves well, and what all of them see must be right. */
import { expect } from "vitest";
import { CLOSE } from "../../../src/realtime/protocol/protocol.ts";
import { type FrameSpec, frameOf, textOfFrame } from "./grammar.ts";
import type { Host, Line } from "./host.ts";
import { followName, type Mirror, newMirror, Peer } from "./peer.ts";
import { type RestChange, type Step, USERS, VIEWER } from "./steps.ts";
import { view } from "./view.ts";

interface Client {
  readonly peer: Peer;
  readonly line: Line;
  hasSentFirst: boolean;
}

const WELL_BEHAVED = 0;
/** What only editors may change; a viewer may follow. */
const EDITED = new Set(["storeChanged", "commentCreated", "commentUpdated", "commentDeleted"]);
const MAX_DEPTH = 40;
const LONGEST_REQUEST_ID = 255;

/** Runs a life on a host, and checks its end. */
export async function live(host: Host, steps: readonly Step[]): Promise<void> {
  const fuzzer = await Fuzzer.start(host);
  for (const step of steps) await fuzzer.run(step);
  await fuzzer.finish();
}

export class Fuzzer {
  readonly #host: Host;
  readonly #clients: Client[] = [];
  readonly #mirror: Mirror = newMirror();
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
        for (let time = 0; time < step.times; time += 1)
          await this.#sendTo(this.#pick(step.pick), step.frame);
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
      case "deleteRoom":
        this.#excused.add(CLOSE.roomDeleted);
        await this.#host.deleteRoom();
        break;
      default:
        await this.#host[step.type]();
    }
    this.#checkWellBehaved();
  }

  async #open(user: number, pings: boolean, mirror: Mirror = newMirror()): Promise<Client> {
    const name = `${USERS[user]} ${this.#clients.length}`;
    const peer = new Peer(name, this.#host.userIds[user] ?? "", mirror);
    const line = await this.#host.open(
      { receive: (text) => peer.receive(text), close: (code) => peer.close(code) },
      pings,
    );
    const client = { peer, line, hasSentFirst: false };
    this.#clients.push(client);
    peer.onEvent = (event) => {
      if (event.event === "commentCreated") this.#comments.push(event.data.comment.id);
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
    const data = { token, role, batch, ...(since && { since: this.#lastSeq }) };
    await this.#send(client, frameOf("JOIN_ROOM", data));
  }

  /** Of the clients whose sockets are open, except the one who behaves well. */
  #pick(pick: number): Client | undefined {
    const open = this.#clients.filter(
      (client) => client.peer.closed === null && client !== this.#wellBehaved,
    );
    return open[pick % Math.max(1, open.length)];
  }

  async #sendTo(client: Client | undefined, frame: FrameSpec): Promise<void> {
    if (client?.peer.closed === null) await this.#send(client, frame);
  }

  async #send(client: Client, spec: FrameSpec): Promise<string | undefined> {
    const frame = await this.#resolve(textOfFrame(spec));
    const { requestId, isJoin, isMark } = readFrame(frame);
    const isUnjoined = client.peer.joined === null;
    // A socket that has not joined is answered its first frame, if that is to join; otherwise it is closed.
    if (!isUnjoined || (isJoin && !client.hasSentFirst)) client.peer.expectAnswer(requestId, !isMark);
    client.hasSentFirst = true;
    this.#frames += 1;
    await client.line.send(frame);
    return requestId;
  }

  /** Puts what exists in the room in place of the names of the grammar. */
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
    await this.#host.change(change);
  }

  /** The one who behaves well joins, or joins again with what it knows. */
  async #rejoin(): Promise<Client> {
    const client = await this.#open(WELL_BEHAVED, true, this.#mirror);
    client.peer.seq = this.#lastSeq;
    this.#wellBehaved = client;
    this.#excused.clear();
    const token = await this.#host.token(WELL_BEHAVED);
    await this.#send(client, frameOf("JOIN_ROOM", { token, batch: true, since: this.#lastSeq }));
    await this.#host.settle();
    expect(client.peer.joined, "the one who behaves well joins").not.toBeNull();
    this.#isReset ||= client.peer.wasReset;
    client.peer.onMark = (mark) => void client.line.send(JSON.stringify({ type: "MARK", data: { mark } }));
    await this.#send(client, frameOf("PRESENCE_SUBSCRIBE", { target: "*", on: true }));
    return client;
  }

  /** What the one who behaves well asks succeeds, whatever others do. */
  async #work(what: Extract<Step, { type: "work" }>["what"]): Promise<void> {
    const client = this.#wellBehaved;
    if (client === null || client.peer.closed !== null) return;
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

  #checkWellBehaved(): void {
    const peer = this.#wellBehaved?.peer;
    if (peer === undefined) return;
    this.#lastSeq = Math.max(this.#lastSeq, peer.seq);
    if (peer.closed !== null) expect([...this.#excused], "closes of who behaves well").toContain(peer.closed);
    if (this.#host.faults === 0)
      for (const each of this.#clients) expect(each.peer.internalErrors, "internal errors").toBe(0);
  }

  async finish(): Promise<void> {
    await this.#host.settle();
    this.#checkWellBehaved();
    for (const { peer } of this.#clients) if (peer.closed === null) peer.checkAnswers();
    await this.#host.checkGrowth(this.#frames);
    if (this.#host.state === "deleted") return this.#checkDeleted();
    if (this.#host.state === "closed") await this.#change({ kind: "roomOpened" });
    await this.#host.settle();
    const client = this.#wellBehaved?.peer.closed === null ? this.#wellBehaved : await this.#rejoin();
    await this.#host.settle();
    await this.#host.outlastGraces();
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
    await this.#host.settle();
    return client;
  }

  /** Who joins anew is given what the one who was there all the time knows. Returns it. */
  async #checkNewcomer(known: Peer): Promise<object> {
    const newcomer = await this.#joinAgain();
    const { joined } = newcomer.peer;
    if (joined === null) throw new Error(`A newcomer cannot join: ${newcomer.peer.closed}`);
    expect(known.closed).toBeNull();
    expect(known.seq).toBe(joined.seq);
    expect(new Set(joined.users.map(({ id }) => id)), "who is online").toEqual(known.roster);
    expect(joined.presence, "presence").toEqual(Object.fromEntries(known.presence));
    const ask = async (type: string, data: object): Promise<Record<string, unknown>> => {
      const requestId = await this.#send(newcomer, frameOf(type, data));
      await this.#host.settle();
      const answer = newcomer.peer.answers.get(requestId ?? "");
      expect(answer, type).toMatchObject({ success: true });
      return answer?.data ?? {};
    };
    const content = await view(this.#mirror, ask);
    const follows = Object.entries(joined.follows).flatMap(([follower, all]) =>
      all.map((followed) => followName(follower, followed)),
    );
    if (!this.#isReset) {
      expect(content).toEqual({
        entries: new Map([...this.#mirror.entries].sort(byName)),
        comments: [...this.#mirror.comments.values()],
      });
      expect(new Set(follows), "follows").toEqual(this.#mirror.follows);
    }
    await newcomer.line.cut();
    await this.#host.flush();
    const { users, presence, seq } = joined;
    return { users: users.map(({ id }) => id), presence, seq, follows, content };
  }
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** What a client knows of a frame that it sends. */
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
