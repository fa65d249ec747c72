/** That a room which never rests keeps nothing of the sockets that have come and gone. */
import v8 from "node:v8";
import { expect, it } from "vitest";
import { TokenBucket } from "../../src/platform/flow/token-bucket.ts";
import { Pacing } from "../../src/room/engine/pacing.ts";
import { Connections } from "../../src/room/transport/connections.ts";
import { joinedSocket } from "../room/support/joined-socket.ts";

const joined = (id: string) => joinedSocket({ id, tokenExpiresAt: Number.POSITIVE_INFINITY });

// The budget of each socket was kept until a thousand users had been there: one who came back all day filled the room.
it("the budgets of sockets go with them, however few users there are", () => {
  const connections = new Connections();
  const pacing = new Pacing({ now: () => 0, answerableIn: () => 0 }, connections);
  for (let count = 0; count < 1_000; count += 1) {
    const socket = joined(`socket ${count}`);
    connections.put(socket);
    pacing.budgets.countFrame(socket, 1);
    connections.remove(socket.id);
  }
  expect(v8.queryObjects(TokenBucket, { format: "count" })).toBeLessThan(200);
  expect(pacing.nextIn()).toBeNull(); // it is still there
});
