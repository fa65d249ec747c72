/** The request that events of a live room follow from: one that opened a socket, or one over REST. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { expect, it } from "vitest";
import { CurrentTrace } from "../../../src/room/host/room-context.ts";
import { RecordingSubscriber } from "../../delivery/recording-subscriber.ts";
import { account } from "../../support/api.ts";
import { gateway } from "../support/rooms.ts";
import { TestSocket } from "../support/test-socket.ts";

const UPGRADE = { requestId: "the upgrade" };

it("a socket's events name its upgrade and the frame, those of REST their request", async () => {
  const owner = await account();
  const events = ["participant.joined", "participant.left", "comment.created", "comment.deleted"] as const;
  const subscriber = await RecordingSubscriber.create(owner.api, { events });
  const { room } = (await owner.api.post<{ room: Room }>("/rooms", { name: "A room" })).data;
  const user = { name: "Ada", roomId: room.id };
  const ada = (await owner.api.post<{ user: UserWithToken }>("/users", user)).data.user;
  const upgrade = new Request("https://atrium.test/socket", { headers: { Upgrade: "websocket" } });
  const { webSocket } = await gateway.connect(room.id, owner.id, upgrade, null, UPGRADE);
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  const socket = new TestSocket(webSocket);
  await socket.request("JOIN_ROOM", { token: ada.token });

  await socket.call("COMMENT_CREATE", { text: "One" }, "frame 1");
  await evictDurableObject(env.ROOMS.getByName(room.id));
  const created = await socket.call("COMMENT_CREATE", { text: "Two" }, "frame 2");
  const { comment } = created.data as { comment: { id: string } };
  const path = `/rooms/${room.id}/comments/${comment.id}`;
  const deleted = await owner.api.delete(path);
  const removed = await owner.api.delete(`/users/${ada.id}?roomId=${room.id}`);

  const { requestId } = UPGRADE;
  const shown = (await subscriber.settled(5)).toReversed();
  expect(shown.map(({ event, request_id, frame_id }) => [event, request_id, frame_id])).toEqual([
    ["participant.joined", requestId, undefined],
    ["comment.created", requestId, "frame 1"],
    ["comment.created", requestId, "frame 2"],
    ["comment.deleted", deleted.requestId, undefined],
    ["participant.left", removed.requestId, undefined],
  ]);
});

it("a trace holds for its turn only", () => {
  const traces = new CurrentTrace();
  const seen = traces.during(UPGRADE, () => {
    traces.continue(UPGRADE, "frame");
    return [traces.stored, traces.during(null, () => traces.stored), traces.stored];
  });
  const stored = JSON.stringify({ ...UPGRADE, frameId: "frame" });
  expect([...seen, traces.stored]).toEqual([stored, null, stored, null]);
});
