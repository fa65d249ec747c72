/** The compared servers, each in its own process, and how to create a room in each. */
import type { Inspector } from "../inspector.ts";
import { Organization } from "../organization.ts";
import { type Served, serving } from "../serve.ts";
import {
  type AtriumProtocol,
  atriumProtocol,
  hocuspocusProtocol,
  plainProtocol,
  socketIoProtocol,
} from "./client-protocols.ts";
import type { ClientProtocol } from "./client-socket.ts";
import { padded } from "./mark.ts";
import { servingPeer } from "./peer-process.ts";
import type { Writer } from "./writes.ts";

export interface Subject<Client extends ClientProtocol = ClientProtocol> {
  readonly name: string;
  readonly pid: number;
  /** Inspector of its isolates; absent unless they are inspected. */
  readonly inspector?: Inspector | null;
  /** Creates a room and returns a protocol per participant; with `users`, the participants share that many users. */
  createRoom(participants: number, users?: number): Promise<Client[]>;
}

/** How a message is acknowledged: echoed to the sender, stored and echoed, or broadcast to all. */
export type Acknowledgement = "echoed" | "stored" | "broadcast";

/** A server that acknowledges writes. */
export interface WritableSubject<Client extends ClientProtocol = ClientProtocol> extends Subject<Client> {
  writerOf(protocol: Client, how: Acknowledgement): Writer;
}

export interface Subjects {
  readonly atrium: WritableSubject<AtriumProtocol>;
  readonly bare: WritableSubject;
  readonly peers: readonly Subject[];
}

const MESSAGE_BYTES = 100;
const KEYS = 1_000;
/** Users created concurrently. */
const CREATING_AT_ONCE = 25;

/** Runs all servers while `work` runs. */
export function servingSubjects<T>(stop: AbortSignal, work: (subjects: Subjects) => Promise<T>): Promise<T> {
  return servingAtrium(stop, (atrium) =>
    servingBare(stop, (bare) =>
      serving(["partyserver"], stop, (partyserver) =>
        servingPeer("socket-io", stop, (socketIo) =>
          servingPeer("hocuspocus", stop, (hocuspocus) => {
            const peers = [
              {
                name: "partyserver, hibernating",
                pid: partyserver.pid,
                createRoom: async (participants: number) =>
                  plainProtocols(`${socketOrigin(partyserver, "partyserver")}/parties/rooms`, participants),
              },
              {
                name: "socket.io",
                pid: socketIo.pid,
                createRoom: async (participants: number) => {
                  const room = crypto.randomUUID();
                  return times(participants, () => socketIoProtocol(`ws://127.0.0.1:${socketIo.port}`, room));
                },
              },
              {
                name: "hocuspocus",
                pid: hocuspocus.pid,
                createRoom: async (participants: number) => {
                  const document = crypto.randomUUID();
                  const url = `ws://127.0.0.1:${hocuspocus.port}`;
                  return times(participants, (participant) => hocuspocusProtocol(url, document, participant));
                },
              },
            ];
            return work({ atrium, bare, peers });
          }),
        ),
      ),
    ),
  );
}

export function servingAtrium<T>(
  stop: AbortSignal,
  work: (atrium: Subjects["atrium"]) => Promise<T>,
  isInspected = false,
): Promise<T> {
  const run = async (served: Served) => {
    const organization = await Organization.create(served.db, served.origin("atrium"));
    const sockets = `${socketOrigin(served, "atrium")}/v1/accounts/${organization.accountId}/rooms`;
    return work({
      name: "**Atrium**",
      ...{ pid: served.pid, inspector: served.inspector },
      createRoom: async (participants, users = participants) => {
        const room = await organization.createRoom("The room");
        const tokens = await createUsers(organization, room, users);
        return times(participants, (participant) =>
          atriumProtocol(`${sockets}/${room}/socket`, tokens[participant % users] ?? ""),
        );
      },
      writerOf: (protocol) => ({
        protocol,
        write: (number, mark) => protocol.write(keyOf(number), "v".repeat(MESSAGE_BYTES), mark),
      }),
    });
  };
  return serving(["atrium"], stop, run, isInspected);
}

async function createUsers(organization: Organization, room: string, users: number): Promise<string[]> {
  const tokens: string[] = [];
  while (tokens.length < users) {
    const next = times(Math.min(CREATING_AT_ONCE, users - tokens.length), (user) =>
      organization.createUser(`User ${tokens.length + user}`, room),
    );
    tokens.push(...(await Promise.all(next)));
  }
  return tokens;
}

/** The prefix of a message to the bare object. */
const BARE_MODES: Readonly<Record<Acknowledgement, (number: number) => string>> = {
  echoed: () => "=",
  stored: (number) => `!${keyOf(number)} `,
  broadcast: () => "+",
};

/** The keys repeat, so that most writes replace an entry. */
const keyOf = (number: number): string => `key-${number % KEYS}`;

export function servingBare<T>(
  stop: AbortSignal,
  work: (bare: Subjects["bare"]) => Promise<T>,
  isInspected = false,
): Promise<T> {
  const run = (served: Served) =>
    work({
      name: "bare Durable Object",
      ...{ pid: served.pid, inspector: served.inspector },
      createRoom: async (participants) => plainProtocols(socketOrigin(served, "bare-room"), participants),
      writerOf: (protocol, how) => ({
        protocol,
        write: (number, mark) => `${BARE_MODES[how](number)}${padded(mark, MESSAGE_BYTES)}`,
      }),
    });
  return serving(["bare-room"], stop, run, isInspected);
}

function plainProtocols(origin: string, participants: number): ClientProtocol[] {
  const url = `${origin}/${crypto.randomUUID()}`;
  return times(participants, () => plainProtocol(url));
}

const socketOrigin = ({ origin }: Served, name: string): string => origin(name).replace("http", "ws");

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
