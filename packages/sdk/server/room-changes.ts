/** A room's changes with a credential of a back end, loaded when they are needed. */

import { linked, type Signals } from "../core/aborting.ts";
import { AtriumError } from "../core/error.ts";
import { assumeType } from "../core/json.ts";
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

class ChangesEndpoint extends ServerEndpoint {
  override urlOf(): string {
    return `${this.room}/changes`;
  }
}

function placeOf(id: string): ChangePlace {
  const end = id.lastIndexOf(":");
  return { seq: Number(id.slice(end + 1)), epoch: id.slice(0, end) };
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
  let headers: Headers | null = null;
  const { aborting: reading, unlink } = linked([...signals, own]);
  const { signal } = reading;
  try {
    for (let failures = 0; ; failures += 1) {
      signal.throwIfAborted();
      if (failures > 0) await waitAfter(endpoint, failures, headers, signal);
      const { aborting, unlink: unlinkConnection } = linked([signal]);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const expectMore = () => {
        clearTimeout(timer);
        timer = setTimeout(() => aborting.abort(), SILENCE_MS);
      };
      try {
        expectMore();
        const request = {
          ...({ method: "GET", cache: "no-store" } as const),
          headers: { Accept: "text/event-stream", ...(id !== undefined && { "Last-Event-ID": id }) },
        };
        const tried = await attempt(endpoint, "changes", request, aborting.signal, (response) => response);
        headers = tried.error === null ? null : tried.headers;
        if (tried.error !== null) throw tried.error;
        const heard = () => {
          failures = -1;
          expectMore();
        };
        for await (const change of eventsIn(tried.result.body ?? new ReadableStream(), heard)) {
          id = change.id;
          const data = assumeType<RoomChange["data"]>(JSON.parse(change.lines.join("\n")));
          yield { event: change.event, data, place: placeOf(id) };
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AtriumError && !error.retryable) throw error;
      } finally {
        clearTimeout(timer);
        unlinkConnection();
        aborting.abort();
      }
    }
  } finally {
    unlink();
  }
}
