/** Forms come in pieces of any size, and say the same in all of them. */

import type { Room } from "@atrium/contract/resources/room.ts";
import { isTooDeep } from "@atrium/contract/text.ts";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type FormEvent, FormParser } from "../../src/http/form/form-parser.ts";
import { MAX_BODY_BYTES, MAX_DEPTH, readBody } from "../../src/http/request-input.ts";
import { type Api, account } from "../support/api.ts";
import { TestWorkflow } from "../workflows/test-workflow.ts";

interface Said {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly content: string;
}

const encode = (text: string) => new TextEncoder().encode(text);
/** A character a byte, so that a failure can be read. */
const latin1 = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

/** Parses a body in chunks that end at these places. */
function read(body: Uint8Array, boundary: string, cuts: readonly number[] = []): Said[] {
  const parser = new FormParser(`multipart/form-data; boundary="${boundary}"`, "Files");
  const said: Said[] = [];
  const hear = (events: readonly FormEvent[]) => {
    for (const event of events) {
      const last = said.at(-1);
      if (event instanceof Uint8Array) {
        if (last !== undefined) said[said.length - 1] = { ...last, content: last.content + latin1(event) };
      } else if (event !== "end") said.push({ ...event, content: "" });
    }
  };
  const places = [
    0,
    ...cuts.map((cut) => cut % (body.byteLength + 1)).sort((a, b) => a - b),
    body.byteLength,
  ];
  for (let i = 1; i < places.length; i += 1) hear(parser.write(body.slice(places[i - 1], places[i])));
  hear(parser.end());
  return said;
}

const refusal = (body: string, cuts: readonly number[] = []): string => {
  try {
    read(encode(body), "b", cuts);
    return "none";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const head = "--b\r\nContent-Disposition: form-data; ";

describe("a form", () => {
  // Consists of the characters of boundaries, so that contents nearly contain them.
  const boundary = fc.oneof(
    fc.string({ unit: fc.constantFrom("-", "b"), minLength: 1, maxLength: 70 }),
    fc.constantFrom("-".repeat(70), "----WebKitFormBoundaryAbCdEf", "'()+_,-./:=?x"),
  );
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map(latin1),
    fc.string({ unit: fc.constantFrom("-", "b", "\r", "\n", "\r\n", "\r\n--", "\r\n--b"), maxLength: 40 }),
    fc.nat({ max: 300 }).map((length) => "-".repeat(length)),
  );
  const toBytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

  it("says the same whichever way it is cut", () => {
    fc.assert(
      fc.property(
        boundary,
        fc.array(content, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("", "a preamble\r\n"),
        fc.constantFrom("", "\r\n", "\r\nan epilogue", "\r\n--b\r\n\r\n"),
        fc.array(fc.nat({ max: 5000 }), { maxLength: 12 }),
        (edge, contents, preamble, epilogue, cuts) => {
          fc.pre(contents.every((text) => !`\r\n${text}\r\n`.includes(`\r\n--${edge}`)));
          const parts = contents.map(
            (text, index) =>
              `--${edge}\r\nContent-Disposition: form-data; name="${index}"\r\n\r\n${text}\r\n`,
          );
          const body = toBytes(`${preamble}${parts.join("")}--${edge}--${epilogue}`);
          const expected = contents.map((text, index) => ({
            name: String(index),
            filename: undefined,
            contentType: undefined,
            content: text,
          }));
          expect(read(body, edge, cuts)).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("says the same when it comes byte by byte", () => {
    const body = encode(
      `${head}name="file"; filename="ä😀.txt"\r\nContent-Type: text/plain\r\n\r\n-\r\n--\r\n--b--\r\n`,
    );
    const everywhere = Array.from(body, (_, index) => index);
    const expected = [{ name: "file", filename: "ä😀.txt", contentType: "text/plain", content: "-\r\n--" }];
    expect(read(body, "b")).toEqual(expected);
    expect(read(body, "b", everywhere)).toEqual(expected);
  });

  it.each([
    ['filename="a.txt"', "a.txt"],
    ["filename=a.txt", "a.txt"],
    ['filename=""', ""],
    ['filename="a%22b%0D%0Ac.txt"', 'a"b\r\nc.txt'],
    ['filename="a;b=c.txt"', "a;b=c.txt"],
    ['filename="ä😀日本.txt"', "ä😀日本.txt"],
    ["filename*=UTF-8''%C3%A4%20b.txt", "ä b.txt"],
    ["filename=\"a.txt\"; filename*=UTF-8''b.txt", "b.txt"],
    ["filename*=UTF-8''b.txt; filename=\"a.txt\"", "b.txt"],
    ['filename="a.txt"; filename="b.txt"', "a.txt"],
    ['FileName="a.txt"', "a.txt"],
    ['filename="a\\"b.txt"', 'a"b.txt'],
    ['filename="\\"\\".txt"; note="x"', '"".txt'],
    ['filename="C:\\docs\\a.txt"', "C:\\docs\\a.txt"],
    ['filename="a\\\\"', "a\\\\"],
    ["filename*=iso-8859-1'de'%E4.txt", "ä.txt"],
    ["filename=\"a.txt\"; filename*=UTF-8''%FF", "a.txt"],
    ['filename = "a.txt" ;', "a.txt"],
  ])("that says %s means %j", (said, filename) => {
    expect(read(encode(`${head}name="file"; ${said}\r\n\r\n\r\n--b--`), "b")[0]?.filename).toBe(filename);
  });
});

describe("a form may be written", () => {
  const disposition = 'Content-Disposition: form-data; name="a"; filename="a.txt"';
  const part = `--b\r\n${disposition}\r\n\r\nhello\r\n`;
  const expected = { name: "a", filename: "a.txt", contentType: undefined, content: "hello" };

  it.each([
    ["with blanks after its boundaries", `--b \t\r\n${disposition}\r\n\r\nhello\r\n--b--  \t\r\n`],
    ["with a preamble and an epilogue", `See RFC 2046.\r\n${part}--b--\r\nThe end.\r\n--b\r\n`],
    ["with an empty line as its preamble", `\r\n${part}--b--`],
    ["without a last line end", `${part}--b--`],
    [
      "with headers that go on in the next line",
      `--b\r\nContent-Disposition: form-data;\r\n\tname="a"; \r\n filename="a.txt"\r\n\r\nhello\r\n--b--`,
    ],
    [
      "with headers of any case, and blanks around them",
      `--b\r\nX: 1\r\nCONTENT-DISPOSITION:\t FORM-DATA ; NAME=a; filename=a.txt \r\n\r\nhello\r\n--b--`,
    ],
    [
      "with an encoding that is none",
      `--b\r\nContent-Transfer-Encoding: BINARY\r\n${disposition}\r\n\r\nhello\r\n--b--`,
    ],
  ])("%s", (_, body) => {
    for (const cuts of [[], Array.from({ length: body.length }, (__, index) => index)])
      expect(read(encode(body), "b", cuts)).toEqual([expected]);
  });

  it("with parts that end in their headers, for those are empty", () => {
    const body = `--b\r\n${disposition}\r\n\r\n--b\r\n${disposition}\r\n\r\n\r\n--b--`;
    for (const cuts of [[], Array.from({ length: body.length }, (_, index) => index)])
      expect(read(encode(body), "b", cuts)).toEqual(
        [expected, expected].map((each) => ({ ...each, content: "" })),
      );
  });

  it.each(['"b"', "b ", '"b"; charset=utf-8', " b"])("with the boundary as %j in its type", (boundary) => {
    const parser = new FormParser(`Multipart/Form-Data; Boundary=${boundary}`, "Files");
    expect(parser.write(encode(`${part}--b--`)).map((event) => typeof event)).toEqual([
      "object",
      "object",
      "string",
    ]);
  });
});

describe("a form is refused", () => {
  const anywhere = fc.array(fc.nat({ max: 20_000 }), { maxLength: 8 });

  it.each([
    ["is incomplete", `${head}name="a"\r\n\r\nhello`],
    ["is incomplete", `${head}name="a"\r\n\r\nhello\r\n--b`],
    ["is incomplete", `${head}name="a"`],
    ["is incomplete", '--c\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n--c--'],
    ["is incomplete", ""],
    ["name", "--b\r\nContent-Disposition: form-data\r\n\r\n\r\n--b--"],
    ["name", '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\n\r\n--b--'],
    ["name", "--b\r\nX: y\r\n\r\n\r\n--b--"],
    ["malformed headers", `${head}name="a\u0001"\r\n\r\n\r\n--b--`],
    ["malformed headers", `${head}name="a\u0000"\r\n\r\n\r\n--b--`],
    ["malformed headers", `--bc\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n--b--`],
    ["malformed headers", "--b\r\n--b--"],
    [
      "Content-Transfer-Encoding: base64",
      `--b\r\nContent-Transfer-Encoding: base64\r\n${head.slice(5)}name="a"\r\n\r\naGk=\r\n--b--`,
    ],
    ["malformed headers", "--b\r\nno header\r\n\r\n\r\n--b--"],
    ["filename*", `${head}name="a"; filename*=UTF-8''%FF\r\n\r\n\r\n--b--`],
    ["16 KiB", `${head}name="a"\r\nX: ${"x".repeat(20_000)}\r\n\r\n\r\n--b--`],
    ["more than 32", `${head}name="a"\r\n\r\n\r\n`.repeat(10_000)],
  ])("where the answer says: %s (case %#), however it is cut", (reason, body) => {
    fc.assert(
      fc.property(anywhere, (cuts) => {
        expect(refusal(body, cuts)).toContain(reason);
      }),
      { numRuns: 20, examples: [[[]]] },
    );
  });

  it.each([
    null,
    "",
    "application/json",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary="a\\"b"',
    `multipart/form-data; boundary=${"b".repeat(71)}`,
    "multipart/mixed; boundary=b",
    "multipart/form-data; boundary=ä",
  ])("whose type is %j", (contentType) => {
    expect(() => new FormParser(contentType, "Files")).toThrow("must be multipart/form-data");
  });
});

// JSON bodies at the limits of size and depth, and with duplicate keys.

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 + Math.max(0, ...Object.values(value as object).map(depthOf))
    : 0;

describe("depth", () => {
  it("is that of the parsed value, whatever its strings contain", () => {
    const brackets = fc.constantFrom("[", "]", "{", "}", '"', "\\", '\\"[', "x");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 40 },
        fc.array(brackets).map((parts) => parts.join("")),
        tie("array"),
        tie("object"),
      ),
      array: fc.array(tie("value"), { maxLength: 2 }),
      object: fc.dictionary(brackets, tie("value"), { maxKeys: 2 }),
    }));
    const wrapped = fc.tuple(value, fc.nat(40)).map(([inner, levels]) => {
      let outer: unknown = inner;
      for (let i = 0; i < levels; i += 1) outer = i % 2 === 0 ? [outer] : { '"]': outer };
      return outer;
    });
    fc.assert(
      fc.property(wrapped, fc.constantFrom(0, 2), fc.nat(MAX_DEPTH), (any, indent, max) => {
        expect(isTooDeep(JSON.stringify(any, null, indent), max)).toBe(depthOf(any) > max);
      }),
    );
  });

  it("is found out without a look at each character where little nests", () => {
    const looks = vi.spyOn(String.prototype, "charCodeAt");
    try {
      expect(isTooDeep(JSON.stringify({ data: "x".repeat(60_000) }), MAX_DEPTH)).toBe(false);
      expect(looks).not.toHaveBeenCalled();
    } finally {
      looks.mockRestore();
    }
  });
});

describe("size", () => {
  const bytes = (size: number) => new Uint8Array(size).fill(0x20);
  const post = (body: BodyInit) => new Request("https://atrium.test", { method: "POST", body });
  const chunked = (size: number) =>
    post(
      new ReadableStream({
        start(controller) {
          for (let sent = 0; sent < size; sent += 1000)
            controller.enqueue(bytes(Math.min(1000, size - sent)));
          controller.close();
        },
      }),
    );

  it.each([0, 1, 999, 1000, 1001, MAX_BODY_BYTES])("of %d bytes is read whole", async (size) => {
    for (const request of [post(bytes(size)), chunked(size)]) {
      expect(await readBody(request, "Rooms")).toEqual(bytes(size));
    }
  });

  it("is refused one byte above the limit", async () => {
    for (const request of [post(bytes(MAX_BODY_BYTES + 1)), chunked(MAX_BODY_BYTES + 1)]) {
      await expect(readBody(request, "Rooms")).rejects.toMatchObject({
        code: "BAD_REQUEST",
        module: "Rooms",
      });
    }
  });
});

describe("a body with a Content-Encoding", () => {
  const gzipped = async (text: string) =>
    new Response(new Response(text).body?.pipeThrough(new CompressionStream("gzip"))).arrayBuffer();

  it("is refused by name, whether it is JSON, bytes, a form or a message of MCP", async () => {
    const owner = await account();
    const { id: roomId } = await owner.api.createRoom();
    const { id: userId, token } = await owner.api.createUser(roomId);
    const json = await gzipped('{"name":"A room"}');
    const form = await gzipped("--b--");
    const sent: [Api, string, string, string, BodyInit][] = [
      [owner.api, "POST", "/rooms", "application/json", json],
      [owner.api, "PATCH", `/rooms/${roomId}`, "application/json", json],
      [owner.api, "PUT", `/rooms/${roomId}/stores/a/b`, "application/json", json],
      [owner.api.as(token), "PUT", `/rooms/${roomId}/documents/a`, "application/octet-stream", json],
      [owner.api, "POST", `/upload?userId=${userId}`, "multipart/form-data; boundary=b", form],
    ];
    for (const encoding of ["gzip", "br", "x-none", "identity, gzip"])
      for (const [api, method, path, type, body] of sent) {
        const answer = await api.send(method, path, {
          headers: { "Content-Type": type, "Content-Encoding": encoding },
          body,
        });
        expect([answer.status, answer.error?.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
        expect(answer.error?.message).toContain(`Content-Encoding: ${encoding}`);
        expect(answer.headers.get("Accept-Encoding")).toBe("identity");
      }
    const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
    const agent = await owner.api.raw("POST", "/v1/../mcp", { headers, body: json });
    expect([agent.status, await agent.json()]).toMatchObject([
      415,
      { error: { data: { code: "UNSUPPORTED_MEDIA_TYPE" } } },
    ]);
  });

  it("that says identity is read", async () => {
    const { api } = await account();
    const answer = await api.post(
      "/rooms",
      { name: "A room" },
      { headers: { "Content-Encoding": "Identity" } },
    );
    expect(answer.status).toBe(201);
  });
});

describe("a number beyond those of JavaScript", () => {
  it("is refused with its field, and never stored as null", async () => {
    const owner = await account();
    const { api } = owner;
    const { id: roomId } = await api.createRoom();
    const { id: userId } = await api.createUser(roomId);
    const store = `/rooms/${roomId}/stores/board`;
    const workflow = await TestWorkflow.create(api, "export default ({ data }) => data.payload;", {
      httpTrigger: true,
    });
    const sent = [
      ["PUT", `${store}/a`, '{"value":@}', "value"],
      ["PUT", `${store}/a`, '{"value":{"x":[1,{"y":@}]}}', "value.x.1.y"],
      ["PATCH", `${store}/a`, '{"value":{"x":@}}', "value.x"],
      [
        "POST",
        `/rooms/${roomId}/comments`,
        `{"userId":"${userId}","text":"a","metadata":{"x":@}}`,
        "metadata.x",
      ],
      ["POST", `/rooms/${roomId}/comments`, `{"userId":"${userId}","text":"a","anchor":@}`, "anchor"],
      ["POST", `/rooms/${roomId}/broadcast`, '{"event":"e","data":@}', "data"],
      ["PUT", `/rooms/${roomId}/participants/${userId}`, '{"presence":{"x":@},"ttl":30}', "presence.x"],
      [
        "POST",
        "/inbox-notifications/trigger",
        '{"identityId":"a","kind":"$a","subjectId":"a","data":{"x":@}}',
        "data.x",
      ],
      ["POST", `${workflow.path}/trigger`, "[@]", "0"],
      ["POST", `${workflow.path}/trigger`, "@", "body"],
      ["PATCH", `${store}/a`, '{"value":{"":{"a.b":[@]}}}', 'value.""."a.b".0'],
      ["POST", `/users/${userId}/tokens?roomId=${roomId}`, '{"ttl":@}', "ttl"],
    ] as const;
    for (const number of ["1e400", "-1e309", `${"9".repeat(400)}`, "1.8e308"])
      for (const [method, path, body, field] of sent) {
        const answer = await api.send(method, path, {
          headers: { "Content-Type": "application/json" },
          body: body.replace("@", number),
        });
        expect([answer.status, answer.error?.code, answer.error?.message]).toEqual([
          400,
          "VALIDATION_ERROR",
          expect.stringContaining(`${field}: must be a number of at most 1.7976931348623157e+308`),
        ]);
      }
    const elsewhere = [
      ["/rooms", '{"name":1e400}', "name: must be a string"],
      ["/rooms", '{"name":"A","more":1e400}', "more: is not a known field"],
      ["/users", '{"name":"A","roomId":"a","role":1e400}', "role: must be one of editor, viewer"],
      [`/users/${userId}/tokens?roomId=${roomId}`, '{"ttl":1e300}', "ttl: must be at most 7776000"],
    ] as const;
    for (const [path, body, message] of elsewhere) {
      const headers = { "Content-Type": "application/json" };
      const { error } = await api.send("POST", path, { headers, body });
      expect([error?.code, error?.message]).toEqual(["VALIDATION_ERROR", message]);
    }
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"change_stores","arguments":{"value":1e400}}}`;
    const agent = await api.raw("POST", "/v1/../mcp", {
      headers: { "Content-Type": "application/json" },
      body: call,
    });
    expect(await agent.json()).toMatchObject({
      error: {
        message: expect.stringContaining("params.arguments.value"),
        data: { code: "VALIDATION_ERROR" },
      },
    });
    expect((await api.get(`${store}`)).data).toMatchObject({ entries: {} });
  });

  it("is none when JavaScript rounds it: such numbers are stored as it reads them", async () => {
    const { api } = await account();
    const { id: roomId } = await api.createRoom();
    const path = `/rooms/${roomId}/stores/board/a`;
    const body = '{"value":[1.7976931348623157e308,9007199254740993,-0,1e-400]}';
    await api.send("PUT", path, { headers: { "Content-Type": "application/json" }, body });
    const { data } = await api.get<{ value: unknown }>(path);
    expect(data.value).toEqual([Number.MAX_VALUE, 2 ** 53, 0, 0]);
  });
});

it("duplicate keys keep their last value", async () => {
  const { api } = await account();
  const answer = await api.send<{ room: Room }>("POST", "/rooms", {
    body: '{"name":7,"customId":"a","name":"first","name":"last","customId":"b"}',
    headers: { "Content-Type": "application/json" },
  });
  expect(answer.data.room).toMatchObject({ name: "last", custom_id: "b" });
});
