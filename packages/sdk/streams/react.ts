/** `atrium/streams/react`: the hook for a stream of the room. */
"use client";
import { getOrAdd, report } from "../core/emitter.ts";
import { AtriumError } from "../core/error.ts";
import { assumeType } from "../core/json.ts";
import type { StreamPart } from "../durable-streams/reader.ts";
import { ExternalSource, type Source, type Unsubscribe } from "../react/external-source.ts";
import type { LoadState } from "../react/loaded.ts";
import { type RoomHandle, useRoomHandle, useSelection, whole } from "../react/room-handle.ts";
import { stream } from "./index.ts";

export interface UseStreamOptions {
  /** The place to begin at: an `offset`, or `now` for new content only; the whole stream by default. */
  readonly offset?: string | undefined;
}

export interface StreamView<Message = unknown> extends LoadState {
  /** The text so far, of a stream of the type `text/…`; otherwise empty. */
  readonly text: string;
  /** The messages so far, of a stream of the type `application/json`; otherwise empty. */
  readonly messages: readonly Message[];
  /** Whether the present content is not loaded yet. */
  readonly isLoading: boolean;
  /** Whether the stream is closed, and all of it is here. */
  readonly isClosed: boolean;
  /** Why the read has ended, such as NOT_FOUND; null while it goes on. */
  readonly error: AtriumError | null;
  /** Reads again after an error: from the beginning if the stream was deleted. Always the same function. */
  readonly retry: () => void;
}

/** The stream has been deleted, and another one may have its name now. */
const isGone = ({ code }: AtriumError): boolean => code === "GONE" || code === "NOT_FOUND";

class SharedStream {
  readonly source: Source<StreamView>;
  readonly #handle: RoomHandle;
  readonly #name: string;
  readonly #first: string | undefined;
  readonly #empty: StreamView;
  #view: StreamView;
  #offset: string | undefined;
  #end: Unsubscribe | null = null;
  #changed = () => {};

  constructor(handle: RoomHandle, name: string, offset: string | undefined) {
    this.#handle = handle;
    this.#name = name;
    this.#first = offset;
    this.#offset = offset;
    const retry = () => this.#retry();
    this.#empty = { text: "", messages: [], isLoading: true, isClosed: false, error: null, retry };
    this.#view = this.#empty;
    this.source = new ExternalSource(
      (changed) => {
        this.#changed = changed;
        this.#retry();
        this.#start();
        return () => this.#stop();
      },
      () => this.#view,
      this.#empty,
    );
  }

  #start(): void {
    const { error, isClosed } = this.#view;
    if (this.#end !== null || error !== null || isClosed) return;
    const onError = (cause: unknown) => this.#fail(cause);
    try {
      const read = stream(this.#handle.client, this.#name);
      this.#end = read.subscribe((part) => this.#take(part), { offset: this.#offset, onError });
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #stop(): void {
    this.#end?.();
    this.#end = null;
  }

  #take({ text, messages, offset, isUpToDate, isClosed }: StreamPart): void {
    const before = this.#view;
    this.#offset = offset;
    this.#show({
      text: before.text + text,
      messages: messages.length === 0 ? before.messages : [...before.messages, ...messages],
      isLoading: before.isLoading && !isUpToDate,
      isClosed,
    });
  }

  #fail(cause: unknown): void {
    this.#stop();
    if (!(cause instanceof AtriumError)) report(cause);
    // The room's ID becomes known by the join.
    else if (cause.code === "NOT_JOINED") this.#startAfterJoin();
    else this.#show({ isLoading: false, error: cause });
  }

  #startAfterJoin(): void {
    const start = () => {
      if (this.#end !== end) return;
      this.#stop();
      this.#start();
    };
    const end = this.#handle.connection.whenConnected(() => queueMicrotask(start));
    this.#end = end;
  }

  #retry(): void {
    const { error } = this.#view;
    if (error === null) return;
    if (isGone(error)) {
      this.#offset = this.#first;
      this.#view = this.#empty;
    }
    this.#show({ error: null, isLoading: true });
    this.#start();
  }

  #show(part: Partial<StreamView>): void {
    this.#view = { ...this.#view, ...part };
    this.#changed();
  }
}

const streams = new WeakMap<RoomHandle, Map<string, SharedStream>>();

/**
 * A stream of the room, as text or messages that grow. All components share one read, which goes on while a component uses
 * it; its content stays in memory as long as the room's client.
 */
export function useStream<Message = unknown>(
  name: string,
  options: UseStreamOptions = {},
): StreamView<Message> {
  const handle = useRoomHandle();
  const { offset } = options;
  const ofRoom = getOrAdd(streams, handle, () => new Map<string, SharedStream>());
  const key = JSON.stringify([name, offset]);
  const shared = getOrAdd(ofRoom, key, () => new SharedStream(handle, name, offset));
  return assumeType(useSelection(shared.source, whole));
}
