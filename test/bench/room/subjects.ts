/** The servers that are compared, each in a process of its own, and how a room of theirs is had. */
import { Organization } from "../organization.ts";
import { type Served, serving } from "../serve.ts";
import type { Voice } from "./line.ts";
import { padded } from "./mark.ts";
import { servingPeer } from "./peer-process.ts";
import { type AtriumVoice, atriumVoice, hocuspocusVoice, plainVoice, socketIoVoice } from "./voices.ts";
import type { Writer } from "./writes.ts";

export interface Subject<Member extends Voice = Voice> {
  readonly name: string;
  readonly pid: number;
  /** A new room, and the voices of its members; where there are users, so many share the voices. */
  createRoom(members: number, users?: number): Promise<Member[]>;
}

/** How a member's messages are acknowledged: sent back alone, stored and sent back, or sent to all. */
export type Acknowledgement = "echoed" | "stored" | "told";

/** One whose writes are acknowledged. */
export interface WritableSubject<Member extends Voice = Voice> extends Subject<Member> {
  writerOf(voice: Member, how: Acknowledgement): Writer;
}

export interface Subjects {
  readonly atrium: WritableSubject<AtriumVoice>;
  readonly bare: WritableSubject;
  readonly peers: readonly Subject[];
}

const MESSAGE_BYTES = 100;
const KEYS = 1_000;
/** Users made side by side. */
const CREATING_AT_ONCE = 25;

/** Serves all of them while `work` runs. */
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
                createRoom: async (members: number) =>
                  plainVoices(`${socketOrigin(partyserver, "partyserver")}/parties/rooms`, members),
              },
              {
                name: "socket.io",
                pid: socketIo.pid,
                createRoom: async (members: number) => {
                  const room = crypto.randomUUID();
                  return times(members, () => socketIoVoice(`ws://127.0.0.1:${socketIo.port}`, room));
                },
              },
              {
                name: "hocuspocus",
                pid: hocuspocus.pid,
                createRoom: async (members: number) => {
                  const document = crypto.randomUUID();
                  const url = `ws://127.0.0.1:${hocuspocus.port}`;
                  return times(members, (member) => hocuspocusVoice(url, document, member));
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
): Promise<T> {
  return serving(["atrium"], stop, async (served) => {
    const organization = await Organization.create(served.db, served.origin("atrium"));
    const sockets = `${socketOrigin(served, "atrium")}/v1/accounts/${organization.accountId}/rooms`;
    return work({
      name: "**Atrium**",
      pid: served.pid,
      createRoom: async (members, users = members) => {
        const room = await organization.createRoom("The room");
        const tokens = await createUsers(organization, room, users);
        return times(members, (member) =>
          atriumVoice(`${sockets}/${room}/socket`, tokens[member % users] ?? ""),
        );
      },
      writerOf: (voice) => ({
        voice,
        write: (number, mark) => voice.write(keyOf(number), "v".repeat(MESSAGE_BYTES), mark),
      }),
    });
  });
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

/** What a message to the bare object begins with. */
const BARE_MODES: Readonly<Record<Acknowledgement, (number: number) => string>> = {
  echoed: () => "=",
  stored: (number) => `!${keyOf(number)} `,
  told: () => "+",
};

/** So that entries are replaced as often as they are made. */
const keyOf = (number: number): string => `key-${number % KEYS}`;

export function servingBare<T>(stop: AbortSignal, work: (bare: Subjects["bare"]) => Promise<T>): Promise<T> {
  return serving(["bare-room"], stop, (served) =>
    work({
      name: "bare Durable Object",
      pid: served.pid,
      createRoom: async (members) => plainVoices(socketOrigin(served, "bare-room"), members),
      writerOf: (voice, how) => ({
        voice,
        write: (number, mark) => `${BARE_MODES[how](number)}${padded(mark, MESSAGE_BYTES)}`,
      }),
    }),
  );
}

function plainVoices(origin: string, members: number): Voice[] {
  const url = `${origin}/${crypto.randomUUID()}`;
  return times(members, () => plainVoice(url));
}

const socketOrigin = ({ origin }: Served, name: string): string => origin(name).replace("http", "ws");

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
