/** `authToken` as a function: it is asked for the first token, before and after the end of each, and after a refusal. */

import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import type { AtriumClient, TokenRequest } from "atrium/client";
import { beforeEach, expect, it } from "vitest";
import type { Runtime } from "../../../packages/sdk/core/runtime.ts";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, EAGER, type Meeting, meet, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";
import { BreakableProxy } from "./proxy.ts";

let meeting: Meeting;
let user: UserWithToken;

const service = await sharedService();

beforeEach(async () => {
  meeting = await meet(service);
  user = await meeting.customer.createUser(meeting.roomId, "Ada");
});

type Answer = string | null | Error | (() => Promise<string>);

/** A client whose function gives these answers in turn, and the last of them from then on. */
function clientWith(answers: readonly Answer[], runtime: Runtime = EAGER, serverUrl = service.url) {
  const reports: unknown[] = [];
  let asked = 0;
  const token = async () => {
    const answer = answers[Math.min(asked, answers.length - 1)] as Answer;
    asked += 1;
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer() : answer;
  };
  const client: AtriumClient = clientOf({ token }, { serverUrl }, runtime);
  client.socket.on("authFailed", ({ code }) => reports.push(`authFailed ${code}`));
  client.socket.on("failed", ({ error }) => reports.push(`failed ${error.code}`));
  return { client, reports, asked: () => asked };
}

/** The user's token, which the service refuses. */
const forged = () => `${user.token.slice(0, -8)}AAAAAAAA`;

/** A token of the user for two minutes. */
const shortLived = async (role?: "viewer"): Promise<string> => {
  const path = `/users/${user.id}/tokens?roomId=${meeting.roomId}`;
  const body = { ttl: 120, ...(role && { role }) };
  return (await meeting.customer.send<{ token: string }>("POST", path, body)).data.token;
};
/** Lets the client's time pass in steps that leave the service time to answer its pings. */
const wait = async (client: AtriumClient, clock: Clock, seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 5) {
    clock.advance(5_000);
    await client.comments.list();
  }
};

it("is asked again, ever less often, while it returns null", async () => {
  const clock = new Clock();
  const { client, asked } = clientWith([null, null, user.token], clock);
  expect(client.userId).toBe("");
  expect(() => client.storage.getUrl({ key: "a" })).toThrow(expect.objectContaining({ code: "NOT_JOINED" }));
  const joining = client.join();
  for (const delayMs of [1_000, 2_000]) {
    await eventually("the client to wait", () => client.socket.status.retryAt !== null);
    const before = asked();
    clock.advance(delayMs - 1);
    expect([asked(), client.socket.state]).toEqual([before, "connecting"]);
    clock.advance(1);
  }
  await joining;
  expect([asked(), client.userId, client.currentUser?.name]).toEqual([3, user.id, "Ada"]);
});

it("is not asked any more after disconnect()", async () => {
  const clock = new Clock();
  const { client, asked } = clientWith([null], clock);
  const refused = expect(client.join()).rejects.toMatchObject({ code: "DISCONNECTED" });
  await eventually("the client to wait", () => client.socket.status.retryAt !== null);
  client.disconnect();
  await refused;
  expect([clock.waiting, asked(), client.socket.state]).toEqual([0, 1, "closed"]);
});

it("is asked once more when the service refuses a token, before the connection is given up", async () => {
  const lucky = clientWith([forged(), user.token]);
  await lucky.client.join();
  expect([lucky.asked(), lucky.reports]).toEqual([2, []]);
  const unlucky = clientWith([forged()]);
  await expect(unlucky.client.join()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  expect([unlucky.asked(), unlucky.reports]).toEqual([2, ["authFailed UNAUTHORIZED", "failed UNAUTHORIZED"]]);
});

it("brings the client back when the user's tokens have ended", async () => {
  const { client, reports, asked } = clientWith([
    async () => (await meeting.customer.getUser(user)).user.token,
  ]);
  await client.join();
  for (const questions of [2, 3]) {
    const back = nextOf(client, "reconnected");
    await meeting.customer.send("DELETE", `/users/${user.id}/tokens?roomId=${meeting.roomId}`);
    await back;
    expect([asked(), reports]).toEqual([questions, []]);
  }
  await client.store("notes").set("1", "back");
});

it("cannot return the token of another user or room", async () => {
  const bo = await meeting.customer.createUser(meeting.roomId, "Bo");
  const { client, reports } = clientWith([forged(), bo.token]);
  await expect(client.join()).rejects.toMatchObject({ code: "FORBIDDEN", module: "Auth", retryable: false });
  expect([reports, client.socket.state]).toEqual([["failed FORBIDDEN"], "closed"]);
});

it.each([
  [
    "a text that is no token",
    "<html>502 Bad Gateway</html>",
    'authToken must be the token of a user, and not "<html>',
  ],
  ["nothing", undefined as unknown as null, "authToken must return the token"],
])("that returns %s has failed, and is asked again", async (_, answer, message) => {
  const { client, reports, asked } = clientWith([answer, user.token]);
  const statuses: unknown[] = [];
  client.socket.on("status", ({ status, error }) => statuses.push([status, error?.code, error?.message]));
  await client.join();
  expect([asked(), reports]).toEqual([2, []]);
  expect(statuses).toContainEqual(["reconnecting", "CONNECTION_FAILED", expect.stringContaining(message)]);
});

it("may have a line end after its token", async () => {
  const { client } = clientWith([`${user.token}\n`]);
  await client.join();
  expect(client.userId).toBe(user.id);
});

it("that does not answer counts as a failed attempt after 15 s, and its signal is aborted", async () => {
  const clock = new Clock();
  const signals: AbortSignal[] = [];
  const token = ({ signal }: TokenRequest) => {
    signals.push(signal);
    return signals.length === 1 ? new Promise<string>(() => {}) : user.token;
  };
  const client = clientOf({ token }, { serverUrl: service.url }, clock);
  const joining = client.join();
  clock.advance(15_000);
  await eventually("the attempt to fail", () => client.socket.status.retryAt !== null);
  expect(client.socket.status).toMatchObject({ status: "reconnecting", attempt: 1 });
  expect(client.socket.status.error).toMatchObject({ code: "CONNECTION_FAILED" });
  expect(signals[0]?.aborted).toBe(true);
  clock.advance(1_000);
  await joining;
  expect(signals[1]?.aborted).toBe(false);
});

it("is asked anew by each join() after a refusal, with the room and the reason", async () => {
  const requests: unknown[] = [];
  const answers = [forged(), forged(), user.token];
  const token = ({ roomId, reason }: TokenRequest) => {
    requests.push([roomId, reason]);
    return answers.shift() ?? user.token;
  };
  const client = clientOf({ token }, { serverUrl: service.url });
  await expect(client.join()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  await client.join();
  expect(requests).toEqual([
    [null, "connect"],
    [meeting.roomId, "refused"],
    [meeting.roomId, "connect"],
  ]);
});

it("that fails counts as an attempt to connect that failed", async () => {
  const failing = clientWith([new Error("offline"), user.token]);
  await failing.client.join();
  expect([failing.asked(), failing.reports]).toEqual([2, []]);
  const { client } = clientWith([new Error("offline")]);
  const failure = { code: "CONNECTION_FAILED", message: "authToken failed: Error: offline", retryable: true };
  await expect(client.connect()).rejects.toMatchObject(failure);
});

it("is asked before the token expires, and the connection stays open", async () => {
  const proxy = await BreakableProxy.before(service);
  const clock = new Clock();
  let answered = 0;
  const answer = () => shortLived().finally(() => (answered += 1));
  const { client, asked, reports } = clientWith([answer], clock, proxy.url);
  await client.join();
  const { accepted } = proxy;
  let losses = 0;
  client.socket.on("disconnected", () => {
    losses += 1;
  });
  await wait(client, clock, 85);
  expect(asked()).toBe(1);
  await wait(client, clock, 5);
  await eventually("the second question", () => asked() === 2);
  await eventually("the next renewal to be planned", () => answered === 2 && clock.waiting === 2);
  await wait(client, clock, 85);
  expect(asked()).toBe(2);
  await wait(client, clock, 5);
  await eventually("the third question", () => asked() === 3);
  expect([losses, proxy.accepted - accepted, reports]).toEqual([0, 0, []]);
  await proxy.close();
});

it.each([
  ["another user's", async () => (await meeting.customer.createUser(meeting.roomId, "Bo")).token],
  ["a lower role's", () => shortLived("viewer")],
])("is not asked again by a connection that cannot have its token: %s", async (_, forbidden) => {
  const clock = new Clock();
  const { client, asked, reports } = clientWith([() => shortLived(), forbidden], clock);
  await client.join();
  await wait(client, clock, 90);
  await eventually("the second question", () => asked() === 2);
  await eventually("its answer, which ends its limit", () => clock.waiting === 1);
  await wait(client, clock, 150);
  expect([asked(), reports, client.socket.state]).toEqual([2, [], "connected"]);
});

it("has its next token used at once, on the same connection, and what it allows from the next one on", async () => {
  const proxy = await BreakableProxy.before(service);
  const { client, asked, reports } = clientWith(
    [user.token, () => shortLived(), () => shortLived("viewer")],
    EAGER,
    proxy.url,
  );
  await client.join();
  const notes = client.store("notes");
  await notes.set("1", "kept");
  const { accepted } = proxy;
  for (let renewal = 0; renewal < 5; renewal += 1) client.renewToken();
  await eventually("the latest token to be asked for", () => asked() > 2);
  await client.comments.list(); // answered: still joined
  expect([proxy.accepted - accepted, client.socket.state, client.role]).toEqual([0, "connected", "editor"]);
  const back = nextOf(client, "reconnected");
  proxy.shut();
  await eventually("the client to notice", () => client.socket.state === "reconnecting");
  proxy.open();
  await back;
  expect([client.role, client.history.canUndo, notes.get("1"), reports]).toEqual([
    "viewer",
    true,
    "kept",
    [],
  ]);
  client.disconnect();
  await proxy.close();
});

it("brings back a client that has failed, with its stores and what it can undo, but not one that has left", async () => {
  let token = user.token;
  const { client, reports } = clientWith([async () => token]);
  await client.join();
  const notes = client.store("notes");
  await notes.sync();
  await notes.set("1", "kept");
  const failed = nextOf(client, "failed");
  await meeting.customer.send("DELETE", `/users/${user.id}/tokens?roomId=${meeting.roomId}`);
  await failed;
  expect([client.socket.state, reports]).toEqual([
    "closed",
    ["authFailed UNAUTHORIZED", "failed UNAUTHORIZED"],
  ]);
  token = (await meeting.customer.getUser(user)).user.token;
  const back = nextOf(client, "connected");
  client.renewToken();
  await back;
  expect([client.history.undo(), notes.get("1")]).toEqual([true, undefined]);
  await client.flush();
  client.disconnect();
  client.renewToken();
  expect(client.socket.state).toBe("closed");
});

it("is asked before joining again with a token that has expired", async () => {
  const proxy = await BreakableProxy.before(service);
  const clock = new Clock();
  const { client, asked } = clientWith([() => shortLived()], clock, proxy.url);
  await client.join();
  proxy.shut();
  await eventually("the client to notice", () => client.socket.state === "reconnecting");
  proxy.open();
  const back = nextOf(client, "reconnected");
  clock.advance(121_000);
  await back;
  expect(asked()).toBe(2);
  await proxy.close();
});

it("gives files the current token, without join()", async () => {
  const { client, asked } = clientWith([null, user.token]);
  const stored = await client.storage.upload({ file: new Blob(["Hello"]), filename: "hello.txt" });
  expect((await client.storage.getAll()).map(({ key }) => key)).toEqual([stored.key]);
  expect(client.storage.getUrl(stored)).toBe(stored.url);
  await client.storage.delete(stored);
  expect([asked(), client.userId]).toEqual([2, user.id]);
});
