/** R6, R8, R10 and R17: the frames that a joined socket may send, and the errors for all others. */
import { describe, expect, it } from "vitest";
import { failed, makeRoom } from "./support/rooms.ts";

describe("a joined socket", () => {
  it.each([
    ["invalid JSON", "{", "BAD_REQUEST"],
    ["an array", "[]", "BAD_REQUEST"],
    ["null", "null", "BAD_REQUEST"],
    ["no type", "{}", "BAD_REQUEST"],
    ["an unknown type", '{"type":"toString"}', "BAD_REQUEST"],
    ["a binary frame", new ArrayBuffer(8), "BAD_REQUEST"],
    ["data that breaks its schema", '{"type":"LEAVE_ROOM","data":7}', "VALIDATION_ERROR"],
    ["another JOIN_ROOM", '{"type":"JOIN_ROOM","data":{"token":""}}', "BAD_REQUEST"],
  ])("that sends %s receives an error and stays open (R6, R10, R17)", async (_, frame, code) => {
    const room = await makeRoom();
    const ada = await room.user();
    const neighbour = await room.join(await room.user());
    const socket = await room.join(ada);
    socket.sendRaw(frame);
    expect(await socket.nextResponse()).toEqual(failed(code));
    expect(await room.online(ada)).toEqual([ada.user.id]);
    expect(await neighbour.drain()).toMatchObject([{ event: "userJoined" }]);
  });

  it("receives its requestId back if it is a string of at most 255 characters (R8)", async () => {
    const room = await makeRoom();
    const socket = await room.join(await room.user());
    for (const [requestId, echoed] of [
      ["", true],
      ["x".repeat(255), true],
      ["x".repeat(256), false],
      [7, false],
      [null, false],
    ]) {
      const answer = await socket.request("NONSENSE", {}, requestId);
      expect(answer.requestId).toEqual(echoed ? requestId : undefined);
    }
  });
});
