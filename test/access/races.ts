/** Writes over every wire that race the end of a right: their authors, answers and order. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { readSyncMessage, writeSyncStep1, writeUpdate } from "y-protocols/sync";
import * as Y from "yjs";
import { roomGateway } from "../../src/room/host/gateway.ts";
import { DocumentClient } from "../room/documents/document-client.ts";
import { openSocket } from "../room/support/join.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { type Account, ORIGIN } from "../support/api.ts";
import type { Random } from "../support/random.ts";

export const WIRES = ["json", "yWebsocket", "hocuspocus", "stores", "documents", "resend"] as const;
export type Wire = (typeof WIRES)[number];

const DOCUMENT = "notes";
const STORE = "tasks";
/** Entry of a witness that marks the end of the right. */
export const END = "end";

/** Lets others go on: in this turn of the event loop, in the next one, or for a trip to the database. */
async function pause(random: Random): Promise<void> {
  const kind = random(3);
  if (kind === 0) await Promise.resolve();
  else if (kind === 1) await new Promise((resolve) => setTimeout(resolve, 0));
  else await env.DB.prepare("SELECT 1").first();
}

const pauses = async (random: Random, most: number): Promise<void> => {
  for (let left = random(most); left > 0; left -= 1) await pause(random);
};

/** The outcome of a race in which the room was killed. */
export interface KilledOutcome {
  /** Joins that were approved while the right was ending, and after that was answered. */
  readonly racing: number;
  readonly late: number;
  /** Sockets that wrote after the answer. */
  readonly wrote: number;
}

/** Kills the room up to twice while a right ends. Its user joins before, and each time at once, as clients do. */
export async function raceWithKills(
  { owner, roomId, socketToken: token }: Place,
  revoke: () => Promise<unknown>,
  random: Random,
): Promise<KilledOutcome> {
  let sockets: TestSocket[] = [];
  let killed = Promise.withResolvers<null>();
  const join = async (): Promise<number> => {
    const socket = await openSocket(owner.id, roomId).catch(() => null);
    const answer = socket?.request("JOIN_ROOM", { token }).catch(() => null);
    const isIn = (await Promise.race([answer, killed.promise]))?.success === true;
    if (isIn && socket !== null) sockets.push(socket);
    return Number(isIn);
  };
  const kill = async () => {
    await pauses(random, 12);
    await runInDurableObject(env.ROOMS.getByName(roomId), (_, state) => state.abort("crash")).catch(
      () => undefined,
    );
    sockets = [];
    killed.resolve(null);
    killed = Promise.withResolvers();
  };
  await join();
  let racing = 0;
  const killAndJoin = async () => {
    for (let kills = 1 + random(2); kills > 0; kills -= 1) {
      await kill();
      racing += await join();
    }
  };
  const revokeLater = async () => {
    await pauses(random, 6);
    await revoke();
  };
  await Promise.all([killAndJoin(), revokeLater()]);
  const late = await join();
  const writes = sockets.map(async (socket) => {
    const data = { store: STORE, key: crypto.randomUUID(), value: 1 };
    return (await socket.call("STORE_SET", data).catch(() => null))?.success === true;
  });
  const wrote = (await Promise.all(writes)).filter(Boolean).length;
  for (const socket of sockets) socket.close();
  return { racing, late, wrote };
}

interface Write {
  readonly wire: Wire;
  readonly key: string;
  /** Begun after the revocation was answered. */
  readonly isLate: boolean;
  /** Null over y-websocket's protocol, which has no answers. */
  readonly isAccepted: boolean | null;
}

/** A room, a user whose right ends, and one whose right does not. */
export interface Place {
  readonly owner: Account;
  readonly roomId: string;
  readonly userId: string;
  /** The user's, for REST. */
  readonly token: string;
  /** The user's or its identity's, for sockets. */
  readonly socketToken: string;
  readonly bystander: string;
}

/** A participant who notes events of the room in order: writes by their keys, and the end of the right. */
class RaceWitness {
  readonly seen: string[] = [];
  /** Keys of earlier races as well. */
  readonly #known = new Set<string>();
  readonly #socket: WebSocket;
  readonly #doc = new Y.Doc();
  readonly #isEnd: (message: string) => boolean;
  #wake: () => void = () => undefined;
  #isClosed = false;
  #answers = 0;

  private constructor(socket: WebSocket, isEnd: (message: string) => boolean) {
    this.#socket = socket;
    this.#isEnd = isEnd;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) this.#receiveFrame(new Uint8Array(data));
      else this.#receive(String(data));
      this.#wake();
    });
    socket.addEventListener("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
    this.#doc.on("update", () => this.#note(this.#doc.getText("text").toString()));
    socket.accept();
  }

  static async join({ owner, roomId }: Place, token: string, isEnd: (message: string) => boolean) {
    const upgrade = new Request(ORIGIN, { headers: { Upgrade: "websocket" } });
    const { webSocket } = await roomGateway(env).connect(roomId, owner.id, upgrade);
    if (webSocket === null) throw new Error("The upgrade returned no socket");
    const witness = new RaceWitness(webSocket, isEnd);
    await witness.#ask("JOIN_ROOM", { token });
    webSocket.send(
      encoding.encode((encoder) => {
        encoding.writeVarString(encoder, DOCUMENT);
        encoding.writeVarUint(encoder, 0);
        writeSyncStep1(encoder, witness.#doc);
      }),
    );
    return witness;
  }

  /** Forgets its notes. */
  async begin(): Promise<void> {
    await this.settle();
    this.seen.length = 0;
    this.#known.delete(END);
  }

  /** Waits for all that the room has sent so far. */
  settle(): Promise<void> {
    return this.#ask("STORE_GET", { store: STORE, key: "none" });
  }

  close(): void {
    if (!this.#isClosed) this.#socket.close(1000);
  }

  async #ask(type: string, data: object): Promise<void> {
    const answers = this.#answers;
    if (!this.#isClosed) this.#socket.send(JSON.stringify({ type, data }));
    while (this.#answers === answers && !this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  #note(keys: string): void {
    const news = keys.split(" ").filter((key) => key !== "" && !this.#known.has(key));
    for (const key of news) this.#known.add(key);
    this.seen.push(...news);
  }

  #receive(text: string): void {
    const { type, event, data } = JSON.parse(text);
    if (type === "response") this.#answers += 1;
    else if (event === "storeChanged") this.#note(data.key);
    else if (this.#isEnd(text)) this.#note(END);
  }

  #receiveFrame(bytes: Uint8Array): void {
    const decoder = decoding.createDecoder(bytes);
    decoding.readVarString(decoder);
    if (decoding.readVarUint(decoder) === 0)
      readSyncMessage(decoder, encoding.createEncoder(), this.#doc, this);
  }
}

/** Writes a key over one wire; true if that was accepted, false if it was refused, null if no answer says so. */
interface Writer {
  write(key: string): Promise<boolean | null>;
  /** Waits until the room has handled all sent messages; absent where answers say so. */
  settle?(): Promise<unknown>;
  close(): void;
}

async function joined({ owner, roomId, socketToken: token }: Place): Promise<TestSocket | null> {
  const socket = await openSocket(owner.id, roomId);
  return (await socket.request("JOIN_ROOM", { token })).success ? socket : null;
}

/** Sends writes without waiting for the answers to those before. */
async function jsonWriter(place: Place): Promise<Writer> {
  const socket = await joined(place);
  const waiting = new Map<string, (isAccepted: boolean | null) => void>();
  const receive = async (): Promise<void> => {
    const message = await socket?.next();
    if (message?.type === "response") waiting.get(message.requestId ?? "")?.(message.success);
    return receive();
  };
  let isClosed = false;
  void receive().catch(() => {
    isClosed = true;
    for (const settle of waiting.values()) settle(null);
  });
  return {
    write: (key) =>
      new Promise((resolve) => {
        if (isClosed) return resolve(null);
        waiting.set(key, resolve);
        socket?.send({ type: "STORE_SET", data: { store: STORE, key, value: 1 }, requestId: key });
      }),
    close: () => socket?.close(),
  };
}

/** Loses its connection after each write, comes back and sends it again. */
async function resendingWriter(place: Place, random: Random): Promise<Writer> {
  let socket = await joined(place);
  const write = async (key: string): Promise<true | null> => {
    const message = { type: "STORE_SET", data: { store: STORE, key, value: 1 }, requestId: key };
    try {
      socket?.send(message);
      socket?.close();
    } catch {} // the room has closed it
    await pause(random);
    socket = await joined(place).catch(() => null);
    const again = await socket?.call("STORE_SET", message.data, key).catch(() => null);
    return again?.success === true ? true : null;
  };
  let last: Promise<true | null> = Promise.resolve(null);
  return {
    write(key) {
      last = last.then(() => write(key));
      return last;
    },
    close: () => socket?.close(),
  };
}

/** Over REST. */
const storesWriter = ({ owner, roomId, token }: Place): Writer => ({
  async write(key) {
    const operations = [{ type: "STORE_SET", store: STORE, key, value: 1 }];
    const path = `/rooms/${roomId}/stores/batch`;
    const answer = await owner.api.as(token).post<{ responses: { success: boolean }[] }>(path, {
      requests: [{ requestId: key, operations }],
    });
    return answer.status === 200 && answer.data.responses[0]?.success === true;
  },
  close: () => undefined,
});

/** An update that depends on no other one. */
function updateOf(key: string): Uint8Array {
  const doc = new Y.Doc();
  doc.getText("text").insert(0, `${key} `);
  return Y.encodeStateAsUpdate(doc);
}

/** Over REST. */
const documentsWriter = ({ owner, roomId, token }: Place): Writer => ({
  async write(key) {
    const path = `/rooms/${roomId}/documents/${DOCUMENT}`;
    const init = { body: updateOf(key), headers: { "Content-Type": "application/octet-stream" } };
    return (await owner.api.as(token).send("PUT", path, init)).status === 200;
  },
  close: () => undefined,
});

async function socketWriter(place: Place, wire: "yWebsocket" | "hocuspocus"): Promise<Writer> {
  const { owner, roomId, socketToken: token } = place;
  const isNamed = wire === "hocuspocus";
  const path = isNamed ? "" : `/${DOCUMENT}/sync`;
  const address = `${ORIGIN}${owner.api.base}/rooms/${roomId}/documents${path}`;
  const headers = { Upgrade: "websocket", ...(!isNamed && { "Sec-WebSocket-Protocol": `atrium, ${token}` }) };
  const { webSocket } = await exports.default.fetch(new Request(address, { headers }));
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  const client = isNamed ? DocumentClient.over(webSocket, DOCUMENT, token) : DocumentClient.over(webSocket);
  await client.synced();
  const statuses = () =>
    client.notes.flatMap(([type, note]) => (type === 8 && typeof note === "number" ? [note] : []));
  // The client's answer to the room's step 1 has the first status.
  if (isNamed) await client.until(() => statuses().length === 1);
  let sent = statuses().length;
  let answered = Promise.resolve();
  return {
    async write(key) {
      const index = sent;
      sent += 1;
      client.sendFrame(0, (encoder) => writeUpdate(encoder, updateOf(key)));
      if (!isNamed) return null;
      answered = answered.then(() => client.until(() => statuses().length > index)).catch(() => undefined);
      await answered;
      const status = statuses()[index];
      return status === undefined ? null : status === 1;
    },
    async settle() {
      if (isNamed) return;
      client.sync();
      await client.synced().catch(() => undefined);
    },
    close: () => client.close(),
  };
}

/** The most writes that each wire sends before the answer. Rejoining costs more. */
const RACING: Readonly<Record<Wire, number>> = {
  ...{ json: 20, yWebsocket: 20, hocuspocus: 20 },
  ...{ stores: 5, documents: 5, resend: 1 },
};

/** The outcome of one race. */
export interface Outcome {
  readonly writes: readonly Write[];
  /** The frames that the user and the bystander have received. */
  readonly seen: readonly (readonly string[])[];
}

/** A user at all wires, and a bystander. */
export interface Party {
  /** Lets writers over all wires race a revocation, and write once more when it has been answered. */
  race(revoke: () => Promise<unknown>): Promise<Outcome>;
  close(): void;
}

export async function enter(place: Place, random: Random): Promise<Party> {
  const isEnd = (text: string) => text.includes('"roleChanged"') || text.includes('"accessChanged"');
  const hasLeft = (text: string) => text.includes('"userLeft"') && text.includes(place.userId);
  const witnesses = [
    await RaceWitness.join(place, place.socketToken, isEnd),
    await RaceWitness.join(place, place.bystander, hasLeft),
  ];
  const writers: Readonly<Record<Wire, Writer>> = {
    json: await jsonWriter(place),
    yWebsocket: await socketWriter(place, "yWebsocket"),
    hocuspocus: await socketWriter(place, "hocuspocus"),
    stores: storesWriter(place),
    documents: documentsWriter(place),
    resend: await resendingWriter(place, random),
  };
  return {
    async race(revoke) {
      for (const witness of witnesses) await witness.begin();
      const writes: Write[] = [];
      let isAnswered = false;
      const write = async (wire: Wire) => {
        const [key, isLate] = [`${wire}-${crypto.randomUUID()}`, isAnswered];
        writes.push({ wire, key, isLate, isAccepted: await writers[wire].write(key) });
      };
      const revokeLater = async () => {
        await pauses(random, 6);
        await revoke();
        isAnswered = true;
      };
      const revoking = revokeLater();
      const writing = WIRES.map(async (wire) => {
        const racing: Promise<void>[] = [];
        while (racing.length < RACING[wire] && !isAnswered) {
          racing.push(write(wire));
          await pause(random);
        }
        await revoking;
        await Promise.all([...racing, write(wire)]);
        await writers[wire].settle?.();
      });
      await Promise.all(writing);
      for (const witness of witnesses) await witness.settle();
      return { writes, seen: witnesses.map(({ seen }) => [...seen]) };
    },
    close() {
      for (const end of [...Object.values(writers), ...witnesses]) end.close();
    },
  };
}

/** The writes of an outcome that break the promise, each with the reason. */
export function violationsOf({ writes, seen }: Outcome): string[] {
  const [, bystander = []] = seen;
  const isStored = (key: string) => bystander.includes(key);
  const late = writes.filter(
    ({ key, isLate, isAccepted }) => isLate && (isAccepted === true || isStored(key)),
  );
  const lost = writes.filter(({ key, isAccepted }) => isAccepted === true && !isStored(key));
  const kept = writes.filter(({ key, isAccepted }) => isAccepted === false && isStored(key));
  const after = seen.flatMap((keys) => (keys.includes(END) ? keys.slice(keys.indexOf(END) + 1) : []));
  return [
    ...late.map(({ key }) => `${key} was written after the answer`),
    ...lost.map(({ key }) => `${key} was accepted and is not there`),
    ...kept.map(({ key }) => `${key} was refused and is there`),
    ...after.map((key) => `${key} follows the end of the right`),
  ];
}
