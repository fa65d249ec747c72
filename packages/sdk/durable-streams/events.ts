/** Server-sent events of a stream: content, and the offset behind it. */
import { isRecord } from "../core/json.ts";

/** Content, and the place behind it. */
export interface Chunk {
  /** Pieces that are decoded one by one. */
  readonly data: readonly (Uint8Array | string)[];
  readonly offset: string;
  readonly cursor: string | null;
  readonly isUpToDate: boolean;
  readonly isClosed: boolean;
}

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

/** Yields a chunk for each control event, with the data before it. `heard` is called when something arrives. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  isBase64: boolean,
  heard: () => void,
): AsyncGenerator<Chunk, void, void> {
  let data: (Uint8Array | string)[] = [];
  for await (const { event, lines } of eventsIn(body, heard)) {
    if (event === "data") data.push(isBase64 ? bytesOf(lines.join("")) : lines.join("\n"));
    else if (event === "control") {
      yield chunkOf(JSON.parse(lines.join("\n")), data);
      data = [];
    }
  }
}

function chunkOf(control: unknown, data: Chunk["data"]): Chunk {
  const { streamNextOffset, streamCursor, upToDate, streamClosed }: Record<string, unknown> = isRecord(
    control,
  )
    ? control
    : {};
  const isClosed = streamClosed === true;
  return {
    ...{ data, offset: String(streamNextOffset), isClosed },
    isUpToDate: isClosed || upToDate === true,
    cursor: typeof streamCursor === "string" ? streamCursor : null,
  };
}

interface ServerSentEvent {
  /** Of this event or the latest one before that has one; empty for none. */
  readonly id: string;
  readonly event: string;
  readonly lines: readonly string[];
}

/** An event that the connection cuts is none. `heard` is called when something arrives. */
export async function* eventsIn(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  let id = "";
  let event = "";
  let lines: string[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    heard();
    text += decoder.decode(read.value, { stream: true });
    // A carriage return at the end may be half of a line's end.
    const complete = text.split(/\r\n|\n|\r(?!$)/);
    text = complete.pop() ?? "";
    for (const line of complete) {
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "id") id = value;
      else if (field === "event") event = value;
      else if (field === "data") lines.push(value);
      else if (line === "") {
        if (lines.length > 0) yield { id, event, lines };
        event = "";
        lines = [];
      }
    }
  }
}
