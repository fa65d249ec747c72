/** The rooms that React's providers open: equal options share one client. */
import { expect, it } from "vitest";
import type { OfflineSupport } from "../../src/sdk/client/index.ts";
import { keepOffline, memoryStorage } from "../../src/sdk/offline/index.ts";
import { roomOf } from "../../src/sdk/react/rooms.ts";

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
