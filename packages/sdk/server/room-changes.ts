/** A room's changes with a credential of a back end, loaded when they are needed. */

import { linked, pause, type Signals } from "../core/aborting.ts";
import { AtriumError, clientFault } from "../core/error.ts";
import { isRecord } from "../core/json.ts";
import type { RestOptions } from "../core/rest.ts";
import { attempt, waitAfter } from "../durable-streams/endpoint.ts";
import { eventsIn } from "../durable-streams/events.ts";
import { ServerEndpoint } from "./server-streams.ts";

/** A place between two changes of a room. */
export interface ChangePlace {
  readonly seq: number;
  readonly epoch: string;
}

export interface RoomChange {
  /** The name of the change, such as `storeChanged`; `reset` for one that says to load what is shown. */
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The place behind the change, for a read that goes on there. */
  readonly place: ChangePlace;
}

export interface ChangesOptions {
  /** The `place` of an earlier change: the changes after it. Without it: from now on, after a `reset`. */
  readonly since?: ChangePlace | undefined;
  /** Ends the read, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The service sends something every 15 seconds. */
const SILENCE_MS = 45_000;
/** The least time between two connections, the `retry` that the service sends. */
const RETRY_MS = 1_000;
/** A connection that has lasted so long has not failed. */
const LASTING_MS = 10_000;

class ChangesEndpoint extends ServerEndpoint {
  override readonly module = "Rooms";
  override urlOf(): string {
    return `${this.room}/changes`;
  }
  override subjectOf(): string {
    return `The feed of changes at ${this.urlOf()}`;
  }
}

function placeOf(id: string): ChangePlace {
  const end = id.lastIndexOf(":");
  return { seq: Number(id.slice(end + 1)), epoch: id.slice(0, end) };
}

/** Proxies answer with pages of their own, which are none of the service's events. */
function bodyOf({ headers, body }: Response): ReadableStream<Uint8Array> {
  if (body !== null && headers.get("Content-Type")?.startsWith("text/event-stream")) return body;
  throw new Error("The answer has no events");
}

/** The data of an event. Throws BAD_REQUEST for what is no object of JSON: another read would get it again. */
function dataOf(endpoint: ChangesEndpoint, lines: readonly string[]): RoomChange["data"] {
  let data: unknown = null;
  let cause: unknown;
  try {
    data = JSON.parse(lines.join("\n"));
  } catch (error) {
    cause = error;
  }
  if (isRecord(data)) return data;
  const fault = clientFault("BAD_REQUEST", `${endpoint.subjectOf()} sent an event that is no object of JSON`);
  throw new AtriumError(fault, undefined, { cause });
}

/** Reads until the right or the room ends, and goes on behind the latest change after each connection. */
export async function* roomChanges(
  options: RestOptions,
  authorization: string | null,
  signals: Signals,
  [roomId, { since, signal: own }]: readonly [roomId: string, options: ChangesOptions],
): AsyncGenerator<RoomChange, void, void> {
  const endpoint = new ChangesEndpoint(options, roomId, authorization, signals);
  let id = since && `${since.epoch}:${since.seq}`;
  const { aborting: reading, unlink } = linked([...signals, own]);
  const { signal } = reading;
  try {
    for (let failures = 0; ; failures += 1) {
      signal.throwIfAborted();
      const { aborting, unlink: unlinkConnection } = linked([signal]);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const expectMore = () => {
        clearTimeout(timer);
        timer = setTimeout(() => aborting.abort(), SILENCE_MS);
      };
      let beganAt = Number.POSITIVE_INFINITY;
      let headers: Headers | null = null;
      try {
        expectMore();
        const request = {
          ...({ method: "GET", cache: "no-store" } as const),
          headers: { Accept: "text/event-stream", ...(id !== undefined && { "Last-Event-ID": id }) },
        };
        const tried = await attempt(endpoint, "changes", request, aborting.signal, bodyOf);
        if (tried.error !== null) {
          ({ headers } = tried);
          throw tried.error;
        }
        beganAt = performance.now();
        for await (const change of eventsIn(tried.result, expectMore)) {
          failures = 0;
          id = change.id;
          yield { event: change.event, data: dataOf(endpoint, change.lines), place: placeOf(id) };
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AtriumError && !error.retryable) throw error;
      } finally {
        if (performance.now() - beganAt >= LASTING_MS) failures = 0;
        clearTimeout(timer);
        unlinkConnection();
        aborting.abort();
      }
      await Promise.all([pause(RETRY_MS, signal), waitAfter(endpoint, failures + 1, headers, signal)]);
    }
  } finally {
    unlink();
  }
}
