/** Streams a download over HTTP. */
import type { Downloads } from "../engine/downloads.ts";

/** The next part of a download: each piece is read when the client has taken the one before. 404 if it is not open. */
export function respondWithPart(downloads: Downloads, id: string): Response {
  if (!downloads.begin(id)) return new Response(null, { status: 404 });
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const piece = downloads.read(id);
    for (const text of piece?.texts ?? []) controller.enqueue(text);
    // One that was given up ends in the middle of its JSON: its client is gone, or reads on over its socket.
    if (piece === null || piece.isLast) controller.close();
  };
  const source = { pull, cancel: () => downloads.close(id) };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }));
}
