/** The hooks in a real browser, with the development build of each React and StrictMode, and a second client in Node.js. */

import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import type { AtriumClient, User } from "atrium/client";
import { openDocument } from "atrium/documents";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../../cli/processes.ts";
import { type Meeting, next } from "../../sdk/clients.ts";
import { bundlePage, prepareReactPages } from "../react-page.ts";
import { REACT_VERSIONS } from "../react-versions.ts";
import type { Provided, Stage } from "./hooks-page.tsx";

const openPage = await prepareReactPages();
let script: string;
let page: Page;
let complaints: readonly string[];
let sockets: () => number;
let meeting: Meeting;
let ada: UserWithToken;
/** The client in Node.js. */
let bo: AtriumClient;

async function begin(): Promise<void> {
  ({ page, meeting, ada, bo, complaints, sockets } = await openPage(script));
}

const mount = (...providers: Provided[]): Promise<void> =>
  page.evaluate((all) => window.stage.mount(all), providers);

/** Waits until the results of the hooks match: there are none before the first render. */
const gives = async (isSo: (hooks: Stage["hooks"]) => boolean): Promise<void> => {
  await page.waitForFunction(`window.stage.hooks && (${isSo})(window.stage.hooks)`);
};

const connected = (): Promise<void> => gives(({ connection }) => connection.state === "connected");

/** Begins with one provider that has joined. */
async function beginConnected(): Promise<void> {
  await begin();
  await mount({ token: ada.token });
  await connected();
}

const sessionsOf = async (user: UserWithToken): Promise<number> => {
  const path = `/users/${user.id}?roomId=${user.room_id}`;
  const answer = await meeting.customer.send<{ sessions: object[] }>("GET", path);
  return answer.data.sessions.length;
};

describe.each(REACT_VERSIONS)("with React %i", (version) => {
  beforeAll(async () => {
    script = await bundlePage("react/hooks-page.tsx", version);
  });

  describe("RoomProvider", () => {
    it("joins once, StrictMode or not, and leaves when it is unmounted", async () => {
      await beginConnected();
      expect(await page.evaluate(() => window.stage.hooks.connection.error)).toBeNull();
      expect(await page.evaluate(() => window.stage.hooks.room.room?.id)).toBe(meeting.roomId);
      expect(await page.evaluate(() => Number.parseInt(window.stage.version, 10))).toBe(version);
      await eventually("Bo sees Ada", () => bo.users.online.has(ada.id));
      const left = next<User>("Ada has left", (listener) => bo.users.on("userLeft", listener));
      await page.evaluate(() => window.stage.unmount());
      expect((await left).name).toBe("Ada");
      expect(await sessionsOf(ada)).toBe(1);
      expect(complaints).toEqual([]);
    });

    it("reports no error when it is disconnected while stores and comments are being loaded", async () => {
      await begin();
      await page.evaluate((token) => window.stage.makeClient(token), ada.token);
      await mount("given");
      await page.evaluate(async () => {
        await window.stage.client.join();
        // Microtasks only: the hooks ask for stores and comments, and no answer can arrive before the end.
        for (let tick = 0; tick < 20; tick++) await Promise.resolve();
        window.stage.client.disconnect();
      });
      await gives(({ connection }) => connection.state === "closed");
      expect(complaints).toEqual([]);
    });

    it("shares one document of the room, StrictMode or not, which is left when it is unmounted", async () => {
      await begin();
      await mount({ token: ada.token }, { token: ada.token });
      await gives(({ notes }) => notes.synced && notes.status === "connected");
      const atBo = openDocument(bo, "notes");
      onTestFinished(() => atBo.destroy());
      const text = atBo.doc.getText("text");
      await page.evaluate(() => window.stage.hooks.notes.provider.doc.getText("text").insert(0, "Hello"));
      await eventually("Bo reads it", () => text.toString() === "Hello");
      await gives(({ notes }) => !notes.hasUnsyncedChanges);
      await page.evaluate(() => window.stage.hooks.notes.provider.awareness.setLocalState({ name: "Ada" }));
      const isThere = () => [...atBo.awareness.getStates().values()].some(({ name }) => name === "Ada");
      await eventually("Bo sees Ada in it", isThere);
      await page.evaluate(() => window.stage.unmount());
      await eventually("Ada is gone", () => !isThere());
      expect(complaints).toEqual([]);
    });

    it("lets the first effects of its children write, in the first stay and in the next one", async () => {
      await begin();
      await page.evaluate((token) => window.stage.makeClient(token), ada.token);
      for (let stay = 1; stay <= 2; stay += 1) {
        await mount("writing");
        await page.waitForFunction((count) => window.stage.written.length === count, 2 * stay);
        await page.evaluate(() => window.stage.unmount());
        await page.waitForFunction(() => window.stage.client.socket.state === "closed");
      }
      // StrictMode runs each effect twice.
      expect(await page.evaluate(() => window.stage.written)).toEqual(Array(4).fill("stored"));
      expect(complaints).toEqual([]);
    });

    it("leaves a document whose change was refused, and has another one once it is discarded", async () => {
      await begin();
      await mount({ token: ada.token, role: "viewer" }, { token: ada.token, role: "viewer" });
      await gives(({ notes }) => notes.synced && notes.status === "connected");
      const atBo = openDocument(bo, "notes");
      onTestFinished(() => atBo.destroy());
      const isThere = () => [...atBo.awareness.getStates().values()].some(({ name }) => name === "Ada");
      const type = () =>
        page.evaluate(() => window.stage.hooks.notes.provider.doc.getText("text").insert(0, "no"));
      await type();
      await gives(({ notes }) => notes.error?.code === "FORBIDDEN");
      await page.evaluate(() => window.stage.hooks.notes.discard());
      await gives(({ notes }) => notes.synced && notes.error === null && !notes.hasUnsyncedChanges);
      const text = () => page.evaluate(() => `${window.stage.hooks.notes.provider.doc.getText("text")}`);
      expect(await text()).toBe("");
      atBo.doc.getText("text").insert(0, "yes");
      await page.waitForFunction(() => `${window.stage.hooks.notes.provider.doc.getText("text")}` === "yes");
      await type();
      await gives(({ notes }) => notes.error !== null);
      await page.evaluate(() => window.stage.hooks.notes.provider.awareness.setLocalState({ name: "Ada" }));
      await eventually("Bo sees Ada in it", isThere);
      expect(await page.evaluate(() => window.stage.hooks.notes.hasUnsyncedChanges)).toBe(true);
      await mount({ token: ada.token, role: "viewer", isBare: true });
      await eventually("Ada has left it", () => !isThere());
      expect(bo.users.online.has(ada.id)).toBe(true);
      expect(complaints).toEqual([]);
    });

    it("joins with another token as another user", async () => {
      await begin();
      const cleo = await meeting.customer.createUser(meeting.roomId, "Cleo");
      await mount({ token: ada.token });
      await gives(({ self }) => self?.user.name === "Ada");
      await mount({ token: cleo.token });
      await gives(({ self, others }) => self?.user.name === "Cleo" && others.length === 1);
      await eventually(
        "Bo sees Cleo alone",
        () => bo.users.online.has(cleo.id) && !bo.users.online.has(ada.id),
      );
    });

    it("keeps its client, its connection and what can be undone when the same user gets another token", async () => {
      await beginConnected();
      await page.evaluate(() => window.stage.hooks.tasks[1].set("a", { title: "Kept" }));
      await gives(({ canUndo, isUnsynced }) => canUndo && !isUnsynced);
      await eventually("Bo sees Ada", () => bo.users.online.has(ada.id));
      const told: string[] = [];
      for (const event of ["userJoined", "userLeft"] as const)
        bo.users.on(event, ({ name }) => told.push(name));
      for (const role of ["editor", "viewer"]) {
        const path = `/users/${ada.id}/tokens?roomId=${meeting.roomId}`;
        const { data } = await meeting.customer.send<{ token: string }>("POST", path, { ttl: 900, role });
        await mount({ token: data.token });
        await page.evaluate(() => window.stage.hooks.room.client.comments.list()); // answered: still joined
      }
      expect(await page.evaluate(() => window.stage.hooks.canUndo)).toBe(true);
      expect([await page.evaluate(() => window.stage.clients.size), sockets(), told]).toEqual([1, 1, []]);
      expect(complaints).toEqual([]);
    });

    it("joins again with another token when the one before has ended", async () => {
      await beginConnected();
      await page.evaluate(() => window.stage.hooks.tasks[1].set("a", { title: "Kept" }));
      await gives(({ canUndo, isUnsynced }) => canUndo && !isUnsynced);
      await meeting.customer.send("DELETE", `/users/${ada.id}/tokens?roomId=${meeting.roomId}`);
      await gives(({ connection }) => connection.state === "closed");
      const { user } = await meeting.customer.getUser(ada);
      await mount({ token: user.token });
      await gives(({ connection, canUndo, tasks }) => {
        return connection.state === "connected" && canUndo && tasks[0].a?.title === "Kept";
      });
      expect(await page.evaluate(() => window.stage.clients.size)).toBe(1);
    });

    it("keeps the rooms of an AtriumProvider and its inbox when the same identity gets another token", async () => {
      await begin();
      const identify = async (name: string) => {
        const body = { customId: `${name}-${meeting.roomId}`, name };
        const { data } = await meeting.customer.send<{ identity: { id: string }; token: string }>(
          ...(["POST", "/identify", body] as const),
        );
        await meeting.customer.send("PUT", `/rooms/${meeting.roomId}/access`, {
          identitiesAccesses: { [data.identity.id]: ["*:write"] },
        });
        return data.token;
      };
      const mountWith = (token: string) =>
        page.evaluate(([text, id]) => window.stage.mountRooms(text, [id], true), [
          token,
          meeting.roomId,
        ] as const);
      await mountWith(await identify("Cleo"));
      const save = (name: string) => page.waitForSelector(`button[title="${name}, editor"]:enabled`);
      await save("Cleo");
      await page.waitForFunction(() => window.stage.inbox.unread === 0);
      const before = sockets();
      await mountWith(await identify("Cleo"));
      await page.click(`#room-${meeting.roomId}`);
      await page.waitForFunction(() => document.querySelector("button")?.textContent === "Saved");
      expect(sockets()).toBe(before);
      await mountWith(await identify("Dan"));
      await save("Dan");
      expect(complaints).toEqual([]);
    });

    it("asks the function of the latest render for the token, and keeps its client from render to render", async () => {
      await begin();
      await mount({ token: "", asked: "first" });
      await page.waitForFunction(() => window.stage.asked.length > 0);
      await mount({ token: ada.token, asked: "second" });
      await connected();
      await mount({ token: ada.token, asked: "third" });
      await page.evaluate(() => window.stage.hooks.room.client.comments.list()); // answered: still joined
      const [asked, clients] = await page.evaluate(() => [window.stage.asked, window.stage.clients.size]);
      expect([new Set(asked), clients, sockets()]).toEqual([new Set(["first", "second"]), 1, 1]);
      expect(complaints).toEqual([]);
    });

    it("shares one client between providers with the same function, and no others", async () => {
      await begin();
      const [one, another] = [
        { token: ada.token, asked: "one" },
        { token: ada.token, asked: "another" },
      ];
      await mount(one, one, another);
      await page.waitForFunction(() => {
        const states = [...window.stage.clients].map(({ socket }) => socket.state);
        return states.join() === "connected,connected";
      });
      expect(sockets()).toBe(2);
      expect(complaints).toEqual([]);
    });

    it("shares one client and one socket with all providers of equal options, until the last is unmounted", async () => {
      await begin();
      const options = { token: ada.token };
      await mount(options, options, options);
      await connected();
      await page.waitForFunction(() => window.stage.clients.size === 1);
      expect(sockets()).toBe(1);
      await mount(options);
      await page.evaluate(() => window.stage.hooks.room.client.comments.list()); // answered: still joined
      expect(await sessionsOf(ada)).toBe(1);
      await page.evaluate(() => window.stage.unmount());
      await eventually("Ada has left", () => !bo.users.online.has(ada.id));
      await mount(options);
      await eventually("Ada has come back", () => bo.users.online.has(ada.id));
      await connected();
      expect(sockets()).toBe(2);
      expect(complaints).toEqual([]);
    });

    it("has clients of their own for providers of other roles", async () => {
      await begin();
      await mount({ token: ada.token }, { token: ada.token, role: "viewer" });
      await page.waitForFunction(() => {
        const roles = [...window.stage.clients].map(({ role }) => role);
        return roles.sort().join() === "editor,viewer";
      });
      expect(sockets()).toBe(2);
    });

    it("accepts a client, leaves when its last provider is unmounted, and can join again", async () => {
      await begin();
      await page.evaluate((token) => window.stage.makeClient(token), ada.token);
      await mount("given", "given");
      await connected();
      await mount("given");
      await page.evaluate(() => window.stage.client.comments.list()); // answered: still joined
      expect(await page.evaluate(() => window.stage.client.socket.state)).toBe("connected");
      await page.evaluate(() => window.stage.unmount());
      await page.waitForFunction(() => window.stage.client.socket.state === "closed");
      await mount("given");
      await connected();
      await gives(({ others }) => others.length === 1);
      expect(complaints).toEqual([]);
    });

    it("sends what was just written before it leaves", async () => {
      await beginConnected();
      await bo.store("tasks").sync();
      const wasUnsynced = await page.evaluate(async () => {
        void window.stage.hooks.tasks[1].set("last", { title: "The last stroke" });
        // Microtasks only: no answer can arrive before the end.
        for (let tick = 0; tick < 20; tick++) await Promise.resolve();
        const { isUnsynced } = window.stage.hooks;
        window.stage.unmount();
        return isUnsynced;
      });
      expect(wasUnsynced).toBe(true);
      await eventually("Ada has left", () => !bo.users.online.has(ada.id));
      expect(bo.store("tasks").get("last")).toEqual({ title: "The last stroke", done: false });
      await mount({ token: ada.token });
      await connected();
      await gives(({ isUnsynced }) => !isUnsynced);
      expect(complaints).toEqual([]);
    });

    it("lets the browser ask before it closes a page with unsynced changes, if its option says so", async () => {
      await begin();
      for (const warns of [false, true]) {
        await mount({ token: ada.token, ...(warns && { warns }) });
        await connected();
        const asks = await page.evaluate(() => {
          const asksNow = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));
          const before = asksNow();
          void window.stage.hooks.tasks[1].set("last", { title: "The last stroke" });
          return [before, asksNow()];
        });
        expect(asks).toEqual([false, warns]);
        await page.evaluate(() => window.stage.unmount());
      }
      expect(complaints).toEqual([]);
    });

    it("joins with the requested role: a viewer's write is rolled back", async () => {
      await begin();
      await mount({ token: ada.token, role: "viewer" });
      await connected();
      expect(await page.evaluate(() => window.stage.hooks.room.role)).toBe("viewer");
      const refused = page.evaluate(() => window.stage.hooks.tasks[1].set("a", { title: "Mine" }));
      await expect(refused).rejects.toThrow("the permission stores:write is missing");
      await gives(({ tasks: [entries] }) => Object.keys(entries).length === 0);
    });

    it("joins each room of an AtriumProvider, and its controls follow what may be done there", async () => {
      await begin();
      const { send, createRoom } = meeting.customer;
      const roomIds = [meeting.roomId, (await createRoom()).id];
      const { data } = await send.call(meeting.customer, "POST", "/identify", {
        ...{ customId: `ada-${meeting.roomId}`, name: "Ada" },
      });
      const { identity, token } = data as { identity: { id: string }; token: string };
      const allow = (roomId = "", permission = "*:write") =>
        meeting.customer.send("PUT", `/rooms/${roomId}/access`, {
          identitiesAccesses: { [identity.id]: [permission] },
        });
      for (const roomId of roomIds) await allow(roomId);
      const mountRooms = (ids: string[]) =>
        page.evaluate(([ada, rooms]) => window.stage.mountRooms(ada, rooms), [token, ids] as const);
      await mountRooms([...roomIds, meeting.roomId]);
      const buttonsOf = (roomId = "") => page.locator(`#room-${roomId}`);
      const [first, second] = [buttonsOf(roomIds[0]).first(), buttonsOf(roomIds[1])];
      await first.click();
      await page.waitForFunction(
        (id) => document.getElementById(id)?.innerText === "Saved",
        `room-${roomIds[0]}`,
      );
      await page.waitForSelector(`#room-${roomIds[1]}[title="Ada, editor"]`);
      expect([await second.textContent(), sockets()]).toEqual(["Save", 3]);
      await allow(roomIds[0], "*:read");
      await page.waitForSelector(`#room-${roomIds[0]}:disabled`);
      expect([await first.getAttribute("title"), await second.isEnabled()]).toEqual(["Ada, viewer", true]);
      await allow(roomIds[0]);
      await page.waitForSelector(`#room-${roomIds[0]}:enabled`);
      await mountRooms(roomIds.slice(1));
      await eventually("Ada has left", () => bo.users.online.size === 1);
      expect(await second.isEnabled()).toBe(true);
      expect(complaints).toEqual([]);
    });

    it("reports why it is closed when the token is refused", async () => {
      await begin();
      await meeting.customer.send("DELETE", `/users/${ada.id}?roomId=${ada.room_id}`);
      await mount({ token: ada.token });
      await gives(({ connection }) => connection.state === "closed");
      expect(await page.evaluate(() => window.stage.hooks.connection.error?.code)).toBe("UNAUTHORIZED");
    });

    it("shows no one and permits nothing once it is closed, and everything again after retry() or a join()", async () => {
      await beginConnected();
      bo.presence.update({ x: 7 });
      await gives(({ others }) => others[0]?.presence?.x === 7);
      for (const again of ["retry", "join"] as const) {
        await meeting.customer.send("PATCH", `/rooms/${meeting.roomId}`, { state: "closed" });
        await gives(
          ({ connection, others, self, room }) =>
            connection.status === "closed" &&
            connection.error?.code === "FORBIDDEN" &&
            others.length === 0 &&
            self?.permissions.length === 0 &&
            room.client.permissions.length === 0,
        );
        await eventually("Bo to be out", () => bo.socket.state === "closed");
        const heard = await page.evaluate(() => window.stage.errors.splice(0));
        expect(heard).toEqual(["FORBIDDEN"]);
        await meeting.customer.send("PATCH", `/rooms/${meeting.roomId}`, { state: "active" });
        await bo.join();
        await page.evaluate((how) => {
          const { connection, room } = window.stage.hooks;
          if (how === "retry") connection.retry();
          else void room.client.join();
        }, again);
        await gives(
          ({ connection, others, self }) =>
            connection.status === "connected" &&
            connection.error === null &&
            others.length === 1 &&
            (self?.permissions.length ?? 0) > 0,
        );
      }
    });

    it("shows its initial presence at once, and keeps what was shown before", async () => {
      await begin();
      await mount({ token: ada.token, initial: { x: 1, y: 2 } });
      await gives(() => true);
      expect(await page.evaluate(() => window.stage.hooks.presence[0])).toEqual({ x: 1, y: 2 });
      await gives(({ connection }) => connection.status === "connected");
      bo.presence.sync("*", () => {});
      await eventually("Bo to see it", () => bo.presence.getStates().get(ada.id)?.y === 2);
      await page.evaluate(() => window.stage.hooks.presence[1]({ x: 9 }));
      await eventually("Bo to see the change", () => bo.presence.getStates().get(ada.id)?.x === 9);
      expect(bo.presence.getStates().get(ada.id)).toMatchObject({ x: 9, y: 2 });
    });

    it("is required: a hook outside it throws", async () => {
      await begin();
      expect(await page.evaluate(() => window.stage.errorOutside())).toContain("RoomProvider");
    });
  });

  describe("the hooks", () => {
    it("return the users online with their presence, the own user apart from the others", async () => {
      await beginConnected();
      bo.presence.update({ x: 7 });
      await gives(({ others }) => others[0]?.user.name === "Bo" && others[0]?.presence?.x === 7);
      await page.evaluate(() => {
        window.stage.hooks.presence[1]({ x: 1 });
        window.stage.hooks.presence[1]({ y: 2 });
      });
      await gives(({ presence: [own] }) => own.x === 1 && own.y === 2);
      await gives(({ self }) => self?.presence?.y === 2 && typeof self.presence.color === "string");
      bo.disconnect();
      await gives(({ others }) => others.length === 0);
    });

    it("return a store's entries, own writes at once and others' as they arrive", async () => {
      await begin();
      await bo.store("tasks").set("early", { title: "Early" });
      await mount({ token: ada.token });
      await gives(({ tasks: [entries] }) => entries.early?.title === "Early");
      const shown = await page.evaluate(async () => {
        const [, { set, update }] = window.stage.hooks.tasks;
        const written = Promise.all([set("own", { title: "Own" }), update("early", { done: true })]);
        const atOnce = window.stage.client ?? window.stage.hooks.room.client;
        const { own, early } = atOnce.store("tasks").getAll();
        await written;
        return [own, early];
      });
      expect(shown).toEqual([
        { title: "Own", done: false },
        { title: "Early", done: true },
      ]);
      await gives(({ tasks: [entries] }) => entries.own?.done === false && entries.early?.done === true);
      await page.evaluate(() => window.stage.hooks.tasks[1].delete("early"));
      await bo.store("tasks").set("late", { title: "Late" });
      await gives(({ tasks: [entries] }) => Object.keys(entries).sort().join() === "late,own");
    });

    it("undo and redo one's own changes, and return whether there are any", async () => {
      await begin();
      await bo.store("tasks").set("a", { title: "Bo's" });
      await mount({ token: ada.token });
      await gives(
        ({ tasks: [entries], canUndo, canRedo }) => entries.a !== undefined && !canUndo && !canRedo,
      );
      await page.evaluate(() => window.stage.hooks.tasks[1].update("a", { title: "Ada's" }));
      await gives(({ tasks: [entries], canUndo }) => entries.a?.title === "Ada's" && canUndo);
      expect(await page.evaluate(() => window.stage.hooks.undo())).toBe(true);
      await gives(({ tasks: [entries] }) => entries.a?.title === "Bo's");
      await gives(({ canUndo, canRedo }) => !canUndo && canRedo);
      expect(await page.evaluate(() => window.stage.hooks.undo())).toBe(false);
      expect(await page.evaluate(() => window.stage.hooks.redo())).toBe(true);
      await gives(({ tasks: [entries], canUndo, canRedo }) => {
        return entries.a?.title === "Ada's" && canUndo && !canRedo;
      });
      expect(complaints).toEqual([]);
    });

    it("receive broadcasts with the listener of the latest render, and send them", async () => {
      await beginConnected();
      await bo.notifications.broadcast("call", 1);
      await gives(({ heard }) => heard.length === 1);
      await page.evaluate(() => window.stage.hooks.setLabel("second"));
      await page.waitForFunction(() => window.stage.label === "second");
      await bo.notifications.broadcast("call", 2);
      await gives(({ heard }) => heard.length === 2);
      expect(await page.evaluate(() => window.stage.hooks.heard)).toEqual([
        `first: 1 from ${bo.userId}`,
        `second: 2 from ${bo.userId}`,
      ]);
      const heard = next("the call", (listener) => bo.notifications.on("call", listener));
      expect(await page.evaluate(() => window.stage.hooks.broadcast({ x: 1 }))).toBe(1);
      expect(await heard).toEqual({ x: 1 });
    });

    it("return threads with what is unread, which marking as read shows at once", async () => {
      await begin();
      await mount({ token: ada.token });
      await gives(({ settings: [settings] }) => settings?.threads === "replies_and_mentions");
      const { id } = await bo.comments.create({ text: "Shall we?" });
      await gives(({ unread, thread: [thread] }) => unread.total === 1 && thread?.unread_count === 1);
      await page.evaluate(() => window.stage.hooks.thread[1].subscribe());
      await gives(({ thread: [thread] }) => thread?.subscribed === true);
      const shown = await page.evaluate(async (threadId) => {
        const [, { markAsRead }] = window.stage.hooks.threads;
        const marked = markAsRead(threadId);
        await Promise.resolve();
        const atOnce = window.stage.hooks.threads[0].threads[0]?.unread_count;
        return [atOnce, (await marked).unread_count];
      }, id);
      expect(shown).toEqual([0, 0]);
      await gives(({ unread, thread: [thread] }) => unread.total === 0 && thread?.unread_count === 0);
      await bo.comments.create({ text: "Please", threadId: id });
      await gives(
        ({ unread, threads: [{ threads }] }) => unread.total === 1 && threads[0]?.comment_count === 2,
      );
      await page.evaluate((threadId) => window.stage.hooks.markAsRead(threadId), id);
      await gives(({ unread }) => unread.total === 0);
      await page.evaluate(() => window.stage.hooks.settings[1]({ threads: "all" }));
      await gives(({ settings: [settings] }) => settings?.threads === "all");
      expect(await bo.comments.settings()).toEqual({ threads: "replies_and_mentions", textMentions: "mine" });
      await bo.comments.delete({ commentId: id });
      await gives(({ threads: [{ threads }] }) => threads[0]?.comment_count === 1);
      expect(complaints).toEqual([]);
    });

    it("return the inbox of an AtriumProvider, which changes at once, and comes back when it cannot", async () => {
      await begin();
      const { data } = await meeting.customer.send<{ identity: { id: string }; token: string }>(
        ...(["POST", "/identify", { customId: `ada-${meeting.roomId}`, name: "Ada" }] as const),
      );
      const notify = (subjectId: string, kind = "$invoice") =>
        meeting.customer.send("POST", "/inbox-notifications/trigger", {
          ...{ identityId: data.identity.id, kind, subjectId },
        });
      const shows = (isSo: (inbox: Stage["inbox"]) => boolean) =>
        page.waitForFunction(`window.stage.inbox && (${isSo})(window.stage.inbox)`);
      await page.evaluate((token) => window.stage.mountRooms(token, []), data.token);
      await shows(({ unread, all: [{ hasMore }] }) => unread === 0 && !hasMore);
      await page.waitForFunction("window.stage.waited.length > 0");
      for (const subject of ["one", "two"]) await notify(subject);
      await notify("three", "$order");
      await shows(
        ({ unread, all: [{ notifications: all }], invoices: [{ notifications }] }) =>
          unread === 3 && all.length === 3 && all[0]?.subject_id === "three" && notifications.length === 2,
      );
      const atOnce = await page.evaluate(async () => {
        const states = () => {
          const [{ notifications }] = window.stage.inbox.all;
          return [window.stage.inbox.unread, ...notifications.map(({ unread }) => unread)];
        };
        const [, second] = window.stage.inbox.all[0].notifications;
        const marked = window.stage.inbox.markAsRead(second?.id ?? "");
        await Promise.resolve();
        const shown = states();
        return [...shown, await marked];
      });
      expect(atOnce).toEqual([2, true, false, true, 2]);
      const forbidden = {
        status: 403,
        json: { data: null, error: { code: "FORBIDDEN", module: "Inbox", message: "No" }, requestId: "1" },
      };
      const changes = /\/me\/(inbox-notifications\/|notification-settings)/;
      await page.route(changes, (route) =>
        route.request().method() === "GET" ? route.continue() : route.fulfill(forbidden),
      );
      const refused = await page.evaluate(async () => {
        const { remove, all } = window.stage.inbox;
        const removed = remove(all[0].notifications[0]?.id ?? "").catch(({ code }) => code);
        await Promise.resolve();
        return [window.stage.inbox.all[0].notifications.length, window.stage.inbox.unread, await removed];
      });
      expect(refused).toEqual([2, 1, "FORBIDDEN"]);
      await shows(({ unread, all: [{ notifications }] }) => unread === 2 && notifications.length === 3);
      const changeSettings = () =>
        page.evaluate(async () => {
          const [, update] = window.stage.inbox.settings;
          const shown = () => window.stage.inbox.settings[0]?.webPush.kinds.thread;
          const updated = update({ webPush: { kinds: { thread: false } } }).catch(({ code }) => code);
          await Promise.resolve();
          return [shown(), (await updated).webPush?.kinds.thread];
        });
      await shows(({ settings: [settings] }) => settings?.webPush.enabled === true);
      expect(await changeSettings()).toEqual([false, undefined]);
      await shows(({ settings: [settings] }) => settings?.webPush.kinds.thread === undefined);
      await page.unroute(changes);
      expect(await changeSettings()).toEqual([false, false]);
      expect(await page.evaluate(() => window.stage.waited[0])).toEqual([0, 0]);
      await page.evaluate(() => window.stage.inbox.markAllAsRead());
      await shows(
        ({ unread, invoices: [{ notifications }] }) =>
          unread === 0 && notifications.every((notification) => !notification.unread),
      );
      await page.evaluate(() => window.stage.inbox.all[1].deleteAll());
      await shows(({ all: [{ notifications }] }) => notifications.length === 0);
      expect([complaints.filter((text) => !text.includes("403")), sockets()]).toEqual([[], 1]);
    });

    it("tell what is not loaded yet from what is empty, and why it is not loaded", async () => {
      await begin();
      await mount({ token: "", asked: "early" });
      await page.waitForFunction(() => window.stage.asked.length > 0);
      const isLoading = () =>
        page.evaluate(() => {
          const { tasks, comments, thread, settings, threads, unread } = window.stage.hooks;
          const loading = [tasks[2], comments[2], thread[2], settings[2], threads[0], unread];
          return loading.map((each) => each.isLoading && each.error === null);
        });
      expect(await isLoading()).toEqual(Array(6).fill(true));
      await mount({ token: ada.token });
      await gives(({ tasks, comments, thread, settings, threads, unread }) =>
        [tasks[2], comments[2], thread[2], settings[2], threads[0], unread].every(
          (each) => !each.isLoading && each.error === null,
        ),
      );
      expect(await page.evaluate(() => window.stage.hooks.thread[0])).toBeNull();
      await bo.comments.create({ text: "Hello" });
      await gives(({ comments: [all], threads: [{ total }] }) => all.length === 1 && total === 1);
      expect(complaints).toEqual([]);
    });

    it("ask a resolver again that has failed", async () => {
      await begin();
      await page.evaluate(() => window.stage.mountGroup("first"));
      await page.waitForFunction(() => window.stage.resolved === 1);
      await page.evaluate(() => window.stage.mountGroup("second"));
      await page.waitForFunction(() => document.body.textContent.includes("Group a"));
      await page.evaluate(() => window.stage.mountGroup("third"));
      await page.waitForFunction(() => document.body.textContent.includes("Group a"));
      expect(await page.evaluate(() => window.stage.resolved)).toBe(2);
      expect(complaints).toEqual([expect.stringContaining("not now")]);
    });

    it("return all comments across pages, oldest first, and every change", async () => {
      await begin();
      const comments = [];
      for (let number = 0; number < 130; number += 1) {
        comments.push(await bo.comments.create({ text: `Comment ${number}` }));
      }
      await mount({ token: ada.token });
      await gives(({ comments: [all] }) => all.length === 130);
      const texts = await page.evaluate(() => window.stage.hooks.comments[0].map(({ text }) => text));
      expect(texts).toEqual(comments.map(({ text }) => text));
      await bo.comments.delete({ commentId: comments[3]?.id ?? "" });
      await bo.comments.update({ commentId: comments[0]?.id ?? "", text: "Changed" });
      await page.evaluate(() => window.stage.hooks.comments[1].create({ text: "The last" }));
      await gives(({ comments: [all] }) => all[0]?.text === "Changed" && all.at(-1)?.text === "The last");
      expect(await page.evaluate(() => window.stage.hooks.comments[0].length)).toBe(130);
    });

    it("render again only when something changed, and return the same objects until then", async () => {
      await beginConnected();
      // Answered after what the hooks have asked for when they were mounted.
      await page.evaluate(() => window.stage.hooks.room.client.comments.list());
      await bo.store("tasks").set("a", { title: "A" });
      await bo.comments.create({ text: "Hello" });
      await gives(
        ({
          tasks: [entries],
          comments: [all],
          threads: [{ total }],
          unread,
          thread: [thread],
          settings: [settings],
        }) =>
          ![entries.a, thread, settings].some((each) => each === undefined || each === null) &&
          [all.length, total, unread.total].join() === "1,1,1",
      );
      const before = await page.evaluateHandle(() => window.stage.hooks);
      await bo.store("other").set("b", 1);
      await bo.store("tasks").set("c", { title: "C" });
      await gives(({ tasks: [entries] }) => entries.c !== undefined);
      const [renders, isSame] = await page.evaluate((old) => {
        const { hooks } = window.stage;
        const same = [
          hooks.others === old.others,
          hooks.self === old.self,
          hooks.room === old.room,
          hooks.connection === old.connection,
          hooks.presence[0] === old.presence[0],
          hooks.presence[1] === old.presence[1],
          hooks.tasks[1] === old.tasks[1],
          hooks.comments[0] === old.comments[0],
          hooks.comments[1] === old.comments[1],
          hooks.broadcast === old.broadcast,
          hooks.undo === old.undo,
          hooks.redo === old.redo,
        ];
        return [hooks.renders - old.renders, same] as const;
      }, before);
      // StrictMode renders twice.
      expect(renders).toBeLessThanOrEqual(2);
      expect(isSame).toEqual(Array(12).fill(true));
      expect(complaints).toEqual([]);
    });
  });
});
