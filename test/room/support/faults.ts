/** Faults at the platform's border: sockets, storage and alarms that fail as the runtime's can, for one user or for all. */
import { onTestFinished, vi } from "vitest";
import type { TestRoom } from "./rooms.ts";

/** The attachment as far as faults look into it. */
interface AttachedUser {
  readonly connection?: { readonly userId?: string };
}

const isOf = (attachment: AttachedUser | null, userId: string): boolean =>
  attachment?.connection?.userId === userId;

/** Ends a fault before its test does. */
export interface Fault {
  heal(): void;
}

/** Makes attaching data to the user's sockets fail from now on. */
export function failAttachments(userId: string): Fault {
  const attach = WebSocket.prototype.serializeAttachment;
  const spy = vi.spyOn(WebSocket.prototype, "serializeAttachment").mockImplementation(function (
    this: WebSocket,
    attachment: unknown,
  ) {
    if (isOf(attachment as AttachedUser | null, userId)) throw new Error("fault: attachment");
    attach.call(this, attachment);
  });
  return fault(() => spy.mockRestore());
}

/** Makes sending to the user's sockets fail from now on. */
export function failSends(userId: string): Fault {
  const send = WebSocket.prototype.send;
  const spy = vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (
    this: WebSocket,
    frame: string | ArrayBuffer | ArrayBufferView,
  ) {
    if (isOf(readAttachment(this), userId)) throw new Error("fault: send");
    send.call(this, frame);
  });
  return fault(() => spy.mockRestore());
}

/** Null for the client's end of a socket, which has none. */
function readAttachment(socket: WebSocket): AttachedUser | null {
  try {
    return socket.deserializeAttachment() as AttachedUser | null;
  } catch {
    return null;
  }
}

/**
 * Makes matching statements of the room's storage fail, but not those of other rooms, until `heal` is called. The first
 * `after` of them succeed.
 */
export async function failStorage(
  room: TestRoom,
  matching: RegExp,
  after = 0,
  message = "fault: storage",
): Promise<Fault> {
  const spy = await room.inside((_, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql);
    let matched = 0;
    return vi.spyOn(sql, "exec").mockImplementation((query, ...params) => {
      if (matching.test(query)) matched += 1;
      if (matching.test(query) && matched > after) throw new Error(message);
      return exec<never>(query, ...params);
    });
  });
  return fault(() => spy.mockRestore());
}

const SPENDING_CAP = "Exceeded the account's spending cap for Durable Objects";

/** Refuses statements and new alarms of the room, as the platform does above its account's spending cap. */
export async function refuseStorage(room: TestRoom): Promise<Fault> {
  const statements = await failStorage(room, /./, 0, SPENDING_CAP);
  const alarms = await room.inside((_, { storage }) =>
    vi.spyOn(storage, "setAlarm").mockRejectedValue(new Error(SPENDING_CAP)),
  );
  return fault(() => {
    statements.heal();
    alarms.mockRestore();
  });
}

function fault(heal: () => void): Fault {
  onTestFinished(heal);
  return { heal };
}
