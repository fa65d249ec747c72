/** R6, R8, R10 and R17: the frames that a joined socket may send, and the errors for all others. */

import { PresenceUpdate, parseMove } from "@atrium/contract/operations/presence.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failed, makeRoom, roomWithUsers } from "../support/rooms.ts";

describe("what a cursor sends", () => {
  const object = fc.dictionary(
    fc.constantFrom("x", "y", "state", "__proto__"),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const field = fc.oneof({ weight: 3, arbitrary: object }, fc.jsonValue({ maxDepth: 1 }));
  const names = ["state", "patch", "remove", "more", "__proto__"] as const;
  const fields = fc.array(fc.tuple(fc.constantFrom(...names), field), { maxLength: 3 });
  /** The data as a frame has it: `__proto__` is a field like any other. */
  const data = fields.map((each): unknown =>
    JSON.parse(`{${[...new Map(each)].map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join()}}`),
  );

  it("is read as the schema reads it, or left to the schema (R17, R47)", () => {
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(data, fc.jsonValue()), (value) => {
        const move = parseMove(value);
        if (move === null) return;
        read += 1;
        expect(PresenceUpdate.safeParse(value)).toEqual({ success: true, data: move });
      }),
      { numRuns: 2_000 },
    );
    expect(read).toBeGreaterThan(0);
  });

  it.each([{ state: { x: 1 } }, { patch: { x: 1 } }, { state: {}, more: 1 }])(
    "is read without the schema: %j",
    (value) => {
      const { more: _, ...move } = { more: 0, ...value };
      expect(parseMove(value)).toEqual(move);
    },
  );
});

describe("a joined socket", () => {
  it("is refused numbers beyond those of JavaScript, with their fields, and never stores them as null (R10)", async () => {
    const { room, ada } = await roomWithUsers();
    const socket = await room.join(ada);
    const frames = [
      ["STORE_SET", '{"store":"s","key":"k","value":@}', "value"],
      ["STORE_UPDATE", '{"store":"s","key":"k","value":{"a":[@]}}', "value.a.0"],
      [
        "STORE_BATCH",
        '{"atomic":false,"operations":[{"type":"STORE_SET","store":"s","key":"k","value":@}]}',
        "operations.0.value",
      ],
      ["PRESENCE_UPDATE", '{"state":{"x":@}}', "state.x"],
      ["PRESENCE_UPDATE", '{"patch":{"x":@}}', "patch.x"],
      ["BROADCAST", '{"event":"e","data":@}', "data"],
      ["COMMENT_CREATE", '{"text":"t","metadata":{"x":@}}', "metadata.x"],
      ["COMMENT_CREATE", '{"text":"t","anchor":[@]}', "anchor.0"],
    ] as const;
    for (const number of ["1e400", "-1e400"])
      for (const [type, data, field] of frames) {
        socket.sendRaw(`{"type":"${type}","requestId":"r","data":${data.replace("@", number)}}`);
        const { error, requestId } = await socket.nextResponse();
        expect([error?.code, error?.message.split(":")[0], requestId]).toEqual([
          "VALIDATION_ERROR",
          `data.${field}`,
          "r",
        ]);
      }
    const others = [
      ["USERS_GET", '{"limit":1e300}', "data.limit: must be at most 1000"],
      ["USERS_GET", '{"limit":-1e300}', "data.limit: must be at least 1"],
      ["USERS_GET", '{"limit":1e400}', expect.stringMatching(/^data\.limit: must be a number of at most/)],
      ["MARK", '{"mark":1e300}', `data.mark: must be at most ${Number.MAX_SAFE_INTEGER}`],
      ["STORE_GET", '{"store":1e400,"key":"k"}', "data.store: must be a string"],
      ["STORE_BATCH", '{"operations":1e400}', "data.operations: must be an array"],
      ["PRESENCE_UPDATE", "1e400", "data: must be an object"],
      ["BROADCAST", "1e400", "data: must be an object"],
      [
        "PRESENCE_UPDATE",
        '{"state":{"":1e400}}',
        expect.stringMatching(/^data\.state\."": must be a number/),
      ],
      [
        "BROADCAST",
        '{"event":"e","data":{"":{"a":1e400}}}',
        expect.stringMatching(/^data\.data\.""\.a: must/),
      ],
    ] as const;
    for (const [type, data, message] of others) {
      socket.sendRaw(`{"type":"${type}","requestId":"r","data":${data}}`);
      expect((await socket.nextResponse()).error).toMatchObject({ code: "VALIDATION_ERROR", message });
    }
    expect(await socket.request("STORE_SYNC", { store: "s" })).toMatchObject({ data: { entries: {} } });
  });

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
    const { room, ada } = await roomWithUsers();
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
