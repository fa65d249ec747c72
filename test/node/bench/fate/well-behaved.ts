/** A room and a tenant that behave well: one message and one request every 20 ms, each timed. */

import { atriumProtocol } from "../room/client-protocols.ts";
import { type ClientSocket, ClientSocket as Socket } from "../room/client-socket.ts";
import { Histogram } from "../room/histogram.ts";

const EVERY_MS = 20;
/** A message that has not arrived after this counts as this late. */
const LATEST_MS = 10_000;

export interface Latency {
  /** Time from a store write to its arrival at another member. */
  readonly room: number;
  /** Time of a REST request of another organization. */
  readonly rest: number;
}

interface WellBehaved {
  readonly socketUrl: string;
  readonly tokens: readonly [string, string];
  /** Requests that are answered with 200. */
  request(): Promise<Response>;
}

export class Neighbours {
  readonly #writer: ClientSocket;
  readonly #reader: ClientSocket;
  readonly #request: () => Promise<Response>;
  #count = 0;

  private constructor(writer: ClientSocket, reader: ClientSocket, request: () => Promise<Response>) {
    this.#writer = writer;
    this.#reader = reader;
    this.#request = request;
  }

  static async join({ socketUrl, tokens: [first, second], request }: WellBehaved): Promise<Neighbours> {
    const open = (token: string) => Socket.open(atriumProtocol(socketUrl, token));
    return new Neighbours(await open(first), await open(second), request);
  }

  /** The 95th percentiles over `seconds`, in milliseconds. Throws when one of the two is disconnected. */
  async measure(seconds: number, stop: AbortSignal): Promise<Latency> {
    const [room, rest] = [new Histogram(), new Histogram()];
    const sent = new Map<string, number>();
    this.#reader.listen((frame) => {
      for (const [, mark = ""] of frame.toString("latin1").matchAll(/"(neighbour-\d+)"/g)) {
        const at = sent.get(mark);
        if (at === undefined) continue;
        sent.delete(mark);
        room.add(performance.now() - at);
      }
    });
    for (const socket of [this.#writer, this.#reader]) socket.send("ping"); // the reader would be silent for too long
    const requests: Promise<void>[] = [];
    const endsAt = performance.now() + seconds * 1000;
    while (performance.now() < endsAt) {
      stop.throwIfAborted();
      this.#count += 1;
      const mark = `neighbour-${this.#count}`;
      sent.set(mark, performance.now());
      this.#writer.send(
        JSON.stringify({
          type: "STORE_SET",
          data: { store: "bench", key: "k", value: mark },
          requestId: `r${mark}`,
        }),
      );
      requests.push(this.#timeRequest(rest));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await Promise.all(requests);
    const limit = performance.now() + LATEST_MS;
    while (sent.size > 0 && performance.now() < limit)
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    for (const at of sent.values()) room.add(performance.now() - at);
    this.#writer.mustBeOpen();
    this.#reader.mustBeOpen();
    return { room: room.quantile(0.95), rest: rest.quantile(0.95) };
  }

  async #timeRequest(rest: Histogram): Promise<void> {
    const at = performance.now();
    const response = await this.#request();
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`A well-behaved request was answered ${response.status}`);
    rest.add(performance.now() - at);
  }

  leave(): void {
    this.#writer.terminate();
    this.#reader.terminate();
  }
}
