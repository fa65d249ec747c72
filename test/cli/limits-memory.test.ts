/** That a room which never rests keeps nothing of the sockets that have come and gone. */
import v8 from "node:v8";
import { expect, it } from "vitest";
import { TokenBucket } from "../../src/platform/flow/token-bucket.ts";
import { MessageQueue } from "../../src/room/engine/message-queue.ts";
import { Connections } from "../../src/room/transport/connections.ts";
import { joinedSocket } from "../room/support/joined-socket.ts";

const joined = (id: string) => joinedSocket({ id, tokenExpiresAt: Number.POSITIVE_INFINITY });

// The budget of each socket was kept until a thousand users had been there: one who came back all day filled the room.
it("the budgets of sockets go with them, however few users there are", () => {
  const connections = new Connections();
  let now = 0;
  const queue = new MessageQueue({ now: () => now, answerableIn: () => 0 }, connections);
  for (let count = 0; count < 1_000; count += 1) {
    now += 100;
    const socket = joined(`socket ${count}`);
    connections.put(socket);
    queue.limits.countFrame(socket, 1);
    connections.remove(socket.id);
  }
  expect(v8.queryObjects(TokenBucket, { format: "count" })).toBeLessThan(200);
  expect(queue.nextIn()).toBeNull(); // it is still there
});
