/** Costs of requests: D1 round trips are the most expensive part, so none may have one too many. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { joinRoom } from "../room/support/join.ts";
import { type Account, account, formOf } from "../support/api.ts";
import { costOf } from "../support/counting.ts";
import { addMember, cookieOf, DashboardBrowser, freshEmail, PASSWORD, signUp } from "../support/person.ts";

let owner: Account;
let roomId: string;
let userId: string;

beforeAll(async () => {
  // Time stands still, so that caches of a few seconds last on a slow machine.
  vi.useFakeTimers({ toFake: ["Date"] });
  owner = await account();
  roomId = (await owner.api.createRoom({ customId: "known" })).id;
  userId = (await owner.api.createUser(roomId)).id;
  return () => vi.useRealTimers();
});

it.each([
  ["GET", "/rooms?limit=50", undefined, 1, 0],
  // A search asks the index of names before it reads the list.
  ["GET", "/rooms?limit=50&search=room", undefined, 2, 0],
  // A second trip clears the outbox once the log has the change's event; no response waits for it.
  ["POST", "/rooms", { name: "Another" }, 2, 0],
  ["GET", "/rooms/:roomId", undefined, 1, 1],
  ["GET", "/rooms/custom/known", undefined, 1, 1],
  ["GET", "/rooms/custom/known?search=a", undefined, 2, 1],
  ["PATCH", "/rooms/:roomId", { name: "Renamed" }, 2, 0],
  // A third one finds the inboxes that are to count anew, behind the response.
  ["PATCH", "/rooms/:roomId", { state: "closed" }, 3, 0],
  ["PATCH", "/rooms/:roomId", { state: "active" }, 3, 0],
  ["POST", "/users", { name: "Another" }, 2, 0],
  ["GET", "/events", undefined, 0, 0],
  ["GET", "/rooms/:roomId/events", undefined, 1, 0],
  ["PUT", "/rooms/:roomId/stores/tasks/first", { value: { done: false } }, 1, 1],
  ["PATCH", "/rooms/:roomId/stores/tasks/first", { value: { done: true } }, 1, 1],
  ["GET", "/rooms/:roomId/stores/tasks/first", undefined, 1, 1],
  ["GET", "/rooms/:roomId/stores/tasks", undefined, 1, 1],
  [
    "POST",
    "/rooms/:roomId/stores/batch",
    {
      requests: ["a", "b"].map((requestId) => ({
        requestId,
        operations: [{ type: "STORE_DELETE", store: "s", key: "k" }],
      })),
    },
    1,
    1,
  ],
  ["GET", "/rooms/:roomId/comments", undefined, 1, 1],
  ["POST", "/rooms/:roomId/broadcast", { event: "hello" }, 1, 1],
  ["GET", "/rooms/:roomId/presence", undefined, 1, 1],
  ["GET", "/users?roomId=:roomId", undefined, 1, 1],
  ["GET", "/users/:userId?roomId=:roomId", undefined, 1, 1],
  ["GET", "/overview", undefined, 1, 0],
  ["GET", "/members", undefined, 1, 0],
  ["POST", "/invitations", {}, 1, 0],
  ["GET", "/invitations", undefined, 1, 0],
  ["POST", "/api-keys", {}, 1, 0],
  ["GET", "/quotas", undefined, 1, 0],
  ["PATCH", "/organization", { name: "Newer" }, 1, 0],
  ["GET", "/audit?limit=2&resource=webhook", undefined, 1, 0],
])("a request of a known key %s %s", async (method, path, body, trips, objectCalls) => {
  const filled = path.replace(":roomId", roomId).replace(":roomId", roomId).replace(":userId", userId);
  const cost = await costOf(owner, method, filled, path === "/users" ? { ...body, roomId } : body);
  expect(cost).toMatchObject({ trips, objectCalls });
  expect(cost.status).toBeLessThan(300);
});

describe("a request about files", () => {
  const form = (bytes: number) =>
    formOf({ roomId, userId }, new File([new Uint8Array(bytes)], "a.bin", { type: "image/png" }));
  const upload = async () => {
    const { data } = await owner.api.upload({ roomId, userId }, new File(["Hello"], "a.txt"));
    return data.file.key;
  };

  it("costs three trips to upload one: before its first byte, when it is whole, and when its event is out", async () => {
    expect(await costOf(owner, "POST", "/upload", form(1000))).toMatchObject({
      status: 201,
      trips: 3,
      r2Calls: 1,
    });
  });

  it("costs one more, and R2 a call for each part and two, when it is large", async () => {
    const cost = await costOf(owner, "POST", "/upload", form(20 * 1024 * 1024));
    expect(cost).toMatchObject({ status: 201, trips: 4, r2Calls: 2 + 3 });
  });

  it("costs one trip to list them", async () => {
    const cost = await costOf(owner, "GET", `/files?roomId=${roomId}&mimeType=image/&userId=${userId}`);
    expect(cost).toMatchObject({ status: 200, trips: 1, objectCalls: 0, r2Calls: 0 });
  });

  it("costs no trip, and one call of R2, to read one", async () => {
    const cost = await costOf(owner, "GET", `/storage/${await upload()}`);
    expect(cost).toMatchObject({ status: 200, trips: 0, r2Calls: 1 });
  });

  it("costs three trips to delete one: out of sight, gone, and its event out", async () => {
    const cost = await costOf(owner, "DELETE", "/upload", { key: await upload() });
    expect(cost).toMatchObject({ status: 200, trips: 3, r2Calls: 1 });
  });

  it("costs nothing more to delete a room that has none: a third trip finds the inboxes with its notifications", async () => {
    const { id } = await owner.api.createRoom();
    expect(await costOf(owner, "DELETE", `/rooms/${id}`)).toMatchObject({ trips: 3, r2Calls: 0 });
  });
});

const WEBHOOK = { url: "https://hooks.example.com", events: ["user.created"], enabled: false };
const WORKFLOW = { name: "A workflow", code: "export default () => 1;", events: ["session.started"] };

async function make(list: string, creation: object): Promise<string> {
  const { data } = await owner.api.post<Record<string, { id: string }>>(list, creation);
  return `${list}/${Object.values(data)[0]?.id}`;
}

type Route = [method: string, path: string, body?: object];
const ROUTES: Route[] = [
  ["GET", ""],
  ["PATCH", "", { enabled: false }],
  ["DELETE", ""],
];
const OF_WEBHOOKS: Route[] = [
  ["POST", "/rotate-secret", {}],
  ["POST", "/test", {}],
  ["GET", "/deliveries"],
];

describe.each<[string, object, Route[]]>([
  ["/webhooks", WEBHOOK, OF_WEBHOOKS],
  ["/workflows", WORKFLOW, [["GET", "/executions"]]],
])("a request about %s", (list, creation, routes) => {
  it("costs one trip to list or create them", async () => {
    expect(await costOf(owner, "GET", `${list}?search=w`)).toMatchObject({ status: 200, trips: 1 });
    expect(await costOf(owner, "POST", list, creation)).toMatchObject({ status: 201, trips: 1 });
  });

  it.each([...ROUTES, ...routes])("costs one trip for one of them: %s %s", async (method, path, body) => {
    const cost = await costOf(owner, method, `${await make(list, creation)}${path}`, body);
    expect(cost).toMatchObject({ trips: 1 });
    expect(cost.status).toBeLessThan(300);
  });

  it("costs one more when it names a room, which must be there before anything is written", async () => {
    expect(await costOf(owner, "POST", list, { ...creation, roomId })).toMatchObject({ trips: 2 });
  });
});

describe("a request about a workflow", () => {
  it("costs one and a call of the workflow's object to read an execution", async () => {
    const path = await make("/workflows", WORKFLOW);
    const body = { event: "user.updated", data: { roomId, userId } };
    const ran = await owner.api.post<{ execution: { id: string } }>(`${path}/run`, body);
    const cost = await costOf(owner, "GET", `${path}/executions/${ran.data.execution.id}`);
    expect(cost).toMatchObject({ status: 200, trips: 1, objectCalls: 0, subscriberCalls: 1 });
  });

  it("costs one more when it changes code: what is the same is not made ready again", async () => {
    const path = await make("/workflows", WORKFLOW);
    expect(await costOf(owner, "PATCH", path, { code: WORKFLOW.code })).toMatchObject({ trips: 2 });
  });

  it("costs one and a call of the room's object to run one by hand", async () => {
    const body = { event: "user.updated", data: { roomId, userId } };
    const cost = await costOf(owner, "POST", `${await make("/workflows", WORKFLOW)}/run`, body);
    expect(cost).toMatchObject({ status: 200, trips: 1, objectCalls: 1 });
  });
});

// The second trip clears the outbox once the room has the command, and the log the event; no response waits for it.
it.each([
  ["PATCH", "/rooms/:roomId", { name: "Renamed" }, 2],
  ["POST", "/users", { name: "Another" }, 2],
])(
  "a change in a room with a participant costs a call of the room's object and another trip: %s %s",
  async (method, path, body, trips) => {
    const { id } = await owner.api.createRoom();
    const { token } = await owner.api.createUser(id);
    await joinRoom(owner.id, id, token);
    const sent = path === "/users" ? { ...body, roomId: id } : body;
    const cost = await costOf(owner, method, path.replace(":roomId", id), sent);
    expect(cost).toMatchObject({ trips, objectCalls: 1 });
  },
);

describe("a request of a key that this instance has not seen lately", () => {
  it("costs one more, and one that it does not wait for, which notes the use of the key", async () => {
    const stranger = await account();
    expect(await costOf(stranger, "POST", "/rooms", { name: "First" })).toMatchObject({ trips: 4 });
    expect(await costOf(stranger, "POST", "/rooms", { name: "Second" })).toMatchObject({ trips: 2 });
  });

  it("costs none when the key has a typo", async () => {
    const { api, ...rest } = await account();
    const typo = {
      ...rest,
      api: Object.assign(Object.create(api), { authorization: `Bearer ${btoa(`${rest.id}:atrium_sk_x`)}` }),
    };
    expect(await costOf(typo, "GET", "/rooms")).toMatchObject({ status: 401, trips: 0 });
  });
});

describe("a request of a member's session", () => {
  it("costs one more for the session, the person and all of its memberships, and none in the seconds after", async () => {
    const { id } = await account();
    const { browser } = await addMember(id);
    const member = { api: browser.api(id) };
    expect(await costOf(member, "GET", "/rooms")).toMatchObject({ status: 200, trips: 2 });
    expect(await costOf(member, "POST", "/rooms", { name: "First" })).toMatchObject({
      status: 201,
      trips: 2,
    });
  });

  it("costs none when we did not sign its cookie", async () => {
    const { id } = await account();
    const browser = new DashboardBrowser();
    browser.cookie = cookieOf("x", "another secret");
    expect(await costOf({ api: browser.api(id) }, "GET", "/rooms")).toMatchObject({
      status: 401,
      trips: 0,
    });
  });
});

describe("a person's visit", () => {
  const costOfVisit = (browser: DashboardBrowser, method: string, path: string, body?: unknown) =>
    costOf({ api: Object.assign(browser.api(""), { base: "/dashboard/api" }) }, method, path, body);

  it("costs one trip to sign up", async () => {
    const body = { name: "Ada", email: freshEmail(), password: PASSWORD };
    expect(await costOfVisit(new DashboardBrowser(), "POST", "/sign-up", body)).toMatchObject({
      status: 201,
      trips: 1,
    });
  });

  it("costs one to be refused, whether the address is registered or not", async () => {
    const { email } = await signUp();
    for (const each of [email, freshEmail()]) {
      const body = { email: each, password: "a wrong password" };
      expect(await costOfVisit(new DashboardBrowser(), "POST", "/sign-in", body)).toMatchObject({
        status: 401,
        trips: 1,
      });
    }
  });

  it("costs two to sign in: a read, then one batch of writes", async () => {
    const { email } = await signUp();
    const cost = await costOfVisit(new DashboardBrowser(), "POST", "/sign-in", { email, password: PASSWORD });
    expect(cost).toMatchObject({ status: 200, trips: 2 });
  });

  it.each([
    ["GET", "/me", undefined, 1],
    ["PATCH", "/me", { name: "Bo" }, 2],
    ["POST", "/organizations", { name: "Second" }, 2],
    ["POST", "/password", { current: PASSWORD, next: "another good password" }, 3],
    ["POST", "/sign-out", undefined, 1],
  ])("%s %s", async (method, path, body, trips) => {
    const { browser } = await signUp();
    expect(await costOfVisit(browser, method, path, body)).toMatchObject({ trips, objectCalls: 0 });
  });
});
