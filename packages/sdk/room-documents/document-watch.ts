/** Watches a document for changes, without a copy of it. */
import { channelOf, type OpenDocument } from "./document-channel.ts";
import { closeFrame, questionFrame } from "./frames.ts";

/** An editor sends several updates a second. */
const DELAY_MS = 300;
const NOTHING = new Uint8Array([0]);

/** Calls back once the document is open, after each reconnection, and soon after each change. The result ends that. */
export function watchDocument(client: object, name: string, changed: () => void): () => void {
  const channel = channelOf(client);
  const key = channel.newKey(name);
  let cancel: (() => void) | null = null;
  const schedule = () => {
    cancel ??= channel.runtime.after(DELAY_MS, () => {
      cancel = null;
      changed();
    });
  };
  const session: OpenDocument = {
    key,
    synchronize: () => channel.send(questionFrame(key, NOTHING)),
    receive: ({ type }) => {
      if (type === "closed") channel.remove(session);
      if (type === "answer") channel.synchronized(session);
      if (type === "answer" || type === "update") schedule();
    },
    lost: () => {},
    drained: () => {},
  };
  channel.add(session);
  return () => {
    cancel?.();
    channel.send(closeFrame(key));
    channel.remove(session);
  };
}
