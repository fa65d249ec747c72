/** The rooms that React's providers open, and the lists that their hooks read. */
import { beforeAll, expect, it, onTestFinished } from "vitest";
import type { OfflineSupport } from "../../src/sdk/client/index.ts";
import { keepOffline, memoryStorage } from "../../src/sdk/offline/index.ts";
import { openComments } from "../../src/sdk/react/content-sources.ts";
import { roomOf } from "../../src/sdk/react/provider.ts";
import { SharedConnection } from "../../src/sdk/react/shared-connection.ts";
import { eventually } from "../cli/processes.ts";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";
import { clientOf, EAGER, join, meet, nextOf } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

let service: SharedService;
beforeAll(async () => {
  service = await useSharedService();
});

const claims = { accountId: "account", roomId: "room", userId: "ada" };
const authToken = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;

it("share one client, which keeps offline what their option says", () => {
  const attached: string[] = [];
  const kept = keepOffline({ storage: memoryStorage() });
  const offline: OfflineSupport = {
    attach: (base, runtime) => {
      attached.push(base);
      return kept.attach(base, runtime);
    },
  };
  const options = { serverUrl: "http://localhost:1", authToken };
  const first = roomOf({ ...options, offline });
  expect([roomOf({ ...options, offline }) === first, roomOf(options) === first]).toEqual([true, false]);
  expect(attached).toEqual(["ws://localhost:1/"]);
});

it("lists comments once, page after page, and again only after an absence that was too long", async () => {
  const meeting = await meet(service);
  const bo = await join(meeting, "Bo");
  const texts = Array.from({ length: 101 }, (_, index) => `${index}`);
  for (const text of texts) void bo.comments.create({ text });
  await eventually("all comments", async () => (await bo.comments.list({ limit: 1 })).total === 101);

  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const asked: unknown[] = [];
  const open = (url: string): WebSocket => {
    const socket = EAGER.open(url);
    const send = socket.send.bind(socket);
    socket.send = (frame: string) => {
      if (frame.includes("COMMENT_LIST")) asked.push(Object(JSON.parse(frame)).data);
      send(frame);
    };
    return socket;
  };
  const user = await meeting.customer.createUser(meeting.roomId, "Ada");
  const ada = clientOf(user, { serverUrl: proxy.url }, { ...EAGER, open });
  const connection = new SharedConnection(ada, undefined, () => {});
  const { source } = openComments(ada, connection, undefined);
  onTestFinished(source.subscribe(() => {}));
  onTestFinished(connection.acquire());
  const shown = () => source.read().map(({ text }) => text);
  await eventually("the list", () => shown().length === 101);
  expect(shown()).toEqual(texts);
  const pages = [{ limit: 100 }, { limit: 100, after: expect.any(Number) }];
  expect(asked).toEqual(pages);

  /** While Ada is away, the oldest comment is changed, the next one deleted, and another one written. */
  const reconnect = async (text: string) => {
    const lost = nextOf(ada, "reconnecting");
    proxy.shut();
    await lost;
    const [first, second] = (await bo.comments.list({ limit: 2 })).comments;
    await bo.comments.update({ commentId: first?.id ?? "", text });
    await bo.comments.delete({ commentId: second?.id ?? "" });
    await bo.comments.create({ text });
    if (text === "long") {
      // More than the 1 MiB of changes that the room replays.
      for (let key = 0; key < 20; key += 1) await bo.store("ballast").set(`${key}`, "a".repeat(60_000));
    }
    const back = nextOf(ada, "reconnected");
    proxy.open();
    await back;
    await eventually("the change", () => shown()[0] === text && shown().at(-1) === text);
  };
  await reconnect("short");
  expect([shown(), asked]).toEqual([["short", ...texts.slice(2), "short"], pages]);
  await reconnect("long");
  expect([shown(), asked]).toEqual([
    ["long", ...texts.slice(3), "short", "long"],
    [...pages, ...pages],
  ]);
});
