/** Rows that comments write, which are most of their bill: beside a comment's change (one), and the receipt of its request. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { Changes } from "../../../../src/room/engine/content/changes.ts";
import { RoomComments } from "../../../../src/room/engine/content/comments.ts";
import { RoomThreads } from "../../../../src/room/engine/content/threads.ts";
import { RoomWakes } from "../../../../src/room/engine/content/wakes.ts";
import { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { recordCursors } from "../../../support/recorded-cursors.ts";
import { eventPorts, roomPorts } from "../../support/room-ports.ts";
import { ROOM } from "../../support/rows.ts";
import { agent, bot } from "../../support/waking-room.ts";

/** Users without inboxes: notifications cost rows of their own. */
const [ada, ben, cleo] = ["ada", "ben", "cleo"].map((name) => ({ subject: name, userId: name })) as [
  Reader,
  Reader,
  Reader,
];
type Reader = Record<"subject" | "userId", string>;

const NO_ONE = { readers: [], groups: [] };

interface Metered {
  readonly storage: SqliteStorage;
  readonly comments: RoomComments;
  readonly threads: RoomThreads;
  readonly wakes: RoomWakes;
  readonly write: (author: Reader, threadId?: string) => string;
  readonly rowsOf: (work: () => unknown) => number;
}

const metered = (work: (room: Metered) => void) =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, { storage: { sql }, storage }) => {
    const cursors = recordCursors(sql);
    const tables = new SqliteStorage(storage);
    const ports = roomPorts({ storage: tables });
    const changes = new Changes(ports);
    const threads = new RoomThreads(ports, changes);
    const comments = new RoomComments(ports, changes, threads, eventPorts(ports));
    const write = (author: Reader, threadId?: string) =>
      comments.create({ text: "Hello", mentions: [], threadId }, author, NO_ONE).id;
    write(cleo); // creates the tables
    const wakes = new RoomWakes(eventPorts(ports));
    const rowsOf = (piece: () => unknown) => {
      cursors.length = 0;
      changes.transaction(piece);
      return cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
    };
    work({ storage: tables, comments, threads, wakes, write, rowsOf });
  });

const CHANGE = 1;

describe("rows written", () => {
  it("of a comment are its own, that of its thread, and an index's", () =>
    metered(({ write, rowsOf }) => {
      const id = write(ada);
      expect(rowsOf(() => write(ada))).toBe(CHANGE + 3);
      expect(rowsOf(() => write(ada, id))).toBe(CHANGE + 3);
    }));

  it("of a reply to another user are one more: the state of its author", () =>
    metered(({ write, rowsOf }) => {
      const id = write(ada);
      for (let replies = 0; replies < 3; replies += 1) {
        expect(rowsOf(() => write(ben, id))).toBe(CHANGE + 4);
        expect(rowsOf(() => write(ada, id))).toBe(CHANGE + 3);
      }
    }));

  it("of an edit, a reaction and a resolution are the comment, and the thread with the totals", () =>
    metered(({ comments, write, rowsOf }) => {
      const id = write(ada);
      const reply = write(ben, id);
      expect(rowsOf(() => comments.edit(id, { text: "Hallo" }, ada.userId, NO_ONE))).toBe(CHANGE + 1);
      expect(rowsOf(() => comments.edit(id, { text: "Longer" }, ada.userId, NO_ONE))).toBe(CHANGE + 2);
      expect(rowsOf(() => comments.react(id, "+1", true, ben.userId))).toBe(CHANGE + 2);
      expect(rowsOf(() => comments.resolve(reply, true, ada.userId))).toBe(CHANGE + 2);
      expect(rowsOf(() => comments.resolve(id, true, ada.userId))).toBe(CHANGE + 3);
    }));

  it("of a wake are an event and two of its record, and by an agent two more of its budgets", () =>
    metered(({ storage, comments, wakes, write, rowsOf }) => {
      const [comment] = comments.find([write(ada)]);
      storage.occupancy.writeRoom(ROOM);
      const agents = ["bot", "tool"].map((id) => agent(id));
      const wake = (some: typeof agents, author = bot("other")) => {
        if (comment !== undefined) wakes.wake(comment, { ...NO_ONE, unnotified: [], agents: some, author });
      };
      expect(rowsOf(() => wake(agents.slice(0, 1), { identityId: "ada", kind: "person" }))).toBe(3);
      expect(rowsOf(() => wake(agents.slice(0, 1)))).toBe(0);
      expect(rowsOf(() => wake(agents))).toBe(5);
    }));

  it("of a read position are one, and none if nothing was unread", () =>
    metered(({ threads, write, rowsOf }) => {
      const id = write(ada);
      write(ben, id);
      for (const reader of [ada, cleo]) {
        expect(rowsOf(() => threads.read(id, reader))).toBe(1);
        expect(rowsOf(() => threads.read(id, reader))).toBe(0);
      }
      expect(rowsOf(() => threads.read(id, ben))).toBe(0);
    }));

  it("of a deletion are the comment, its thread and the totals", () =>
    metered(({ comments, write, rowsOf }) => {
      const id = write(ada);
      const reply = write(ada, id);
      expect(rowsOf(() => comments.delete(id, ada.userId))).toBe(CHANGE + 3);
      expect(rowsOf(() => comments.delete(reply, ada.userId))).toBe(CHANGE + 3);
    }));
});
