/** The compared servers of documents, each in its own process. */
import { Organization } from "../organization.ts";
import { servingPeer } from "../room/peer-process.ts";
import { serving } from "../serve.ts";
import type { DocumentAddress } from "./document-socket.ts";

export interface DocumentServer {
  readonly name: string;
  readonly pid: number;
  /** Whether it says when an update was applied. */
  readonly hasStatus: boolean;
  /** How one more person reaches the document of this name. */
  addressOf(document: string): Promise<DocumentAddress>;
}

/** Runs all servers while `work` runs. */
export function servingDocuments<T>(
  stop: AbortSignal,
  work: (servers: readonly DocumentServer[]) => Promise<T>,
): Promise<T> {
  return serving(["atrium"], stop, async (served) => {
    const organization = await Organization.create(served.db, served.origin("atrium"));
    const origin = `${served.origin("atrium").replace("http", "ws")}/v1/accounts/${organization.accountId}`;
    const rooms = new Map<string, Promise<string>>();
    /** Each document is in a room of its own, as it is in a process of its own elsewhere. */
    const roomOf = (document: string): Promise<string> => {
      const room = rooms.get(document) ?? organization.createRoom(document);
      rooms.set(document, room);
      return room;
    };
    const person = async (document: string) => {
      const room = await roomOf(document);
      return { room, token: await organization.createUser("Ada", room) };
    };
    const atrium = { pid: served.pid };
    return servingPeer("y-websocket", stop, (yWebsocket) =>
      servingPeer("hocuspocus", stop, (hocuspocus) =>
        work([
          {
            ...atrium,
            name: "**Atrium**, Hocuspocus' protocol",
            hasStatus: true,
            addressOf: async (document) => {
              const { room, token } = await person(document);
              return { url: `${origin}/rooms/${room}/documents`, named: { name: "text", token } };
            },
          },
          {
            name: "Hocuspocus, in memory",
            pid: hocuspocus.pid,
            hasStatus: true,
            addressOf: async (document) => ({
              url: `ws://127.0.0.1:${hocuspocus.port}`,
              named: { name: document, token: "" },
            }),
          },
          {
            ...atrium,
            name: "**Atrium**, y-websocket's protocol",
            hasStatus: false,
            addressOf: async (document) => {
              const room = await roomOf(document);
              const token = await organization.identify("Ada", room); // short-lived, as in each address
              return { url: `${origin}/rooms/${room}/documents/text/sync?token=${token}`, named: null };
            },
          },
          {
            name: "y-websocket's server, in memory",
            pid: yWebsocket.pid,
            hasStatus: false,
            addressOf: async (document) => ({
              url: `ws://127.0.0.1:${yWebsocket.port}/${document}`,
              named: null,
            }),
          },
        ]),
      ),
    );
  });
}
