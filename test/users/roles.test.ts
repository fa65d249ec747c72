/** A user's role is changed over REST: its tokens and its open connections follow. */
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { IssuedToken, UserWithToken } from "../../src/features/users/schema.ts";
import type { Role } from "../../src/wire/user.ts";
import { TestSocket } from "../room/support/test-socket.ts";
import { account, ORIGIN } from "../support/api.ts";

async function setUp(role: Role) {
  const { api } = await account();
  const room = await api.createRoom();
  const user = await api.createUser(room.id, { role });
  const path = `/users/${user.id}?roomId=${room.id}`;
  return {
    api,
    user,
    setRole: async (next: Role) => (await api.patch<{ user: UserWithToken }>(path, { role: next })).data.user,
    issue: async (body: object) =>
      (await api.post<IssuedToken>(`/users/${user.id}/tokens?roomId=${room.id}`, body)).data.token,
    async join(token: string, data: object = {}) {
      const url = `${ORIGIN}${api.base}/rooms/${room.id}/socket`;
      const response = await exports.default.fetch(new Request(url, { headers: { Upgrade: "websocket" } }));
      if (response.webSocket === null) throw new Error("The upgrade returned no socket");
      const socket = new TestSocket(response.webSocket);
      const joined = await socket.request("JOIN_ROOM", { token, ...data });
      return { socket, role: (joined.data as { role: Role }).role };
    },
  };
}

const write = { store: "tasks", key: "milk", value: 1 };

const codeOf = async (socket: TestSocket): Promise<string | undefined> =>
  (await socket.call("STORE_SET", write)).error?.code;

describe("a changed role", () => {
  it("holds on open connections before the change is answered, and each receives it", async () => {
    const { user, setRole, join } = await setUp("editor");
    const { socket } = await join(user.token);
    expect(await codeOf(socket)).toBeUndefined();
    expect((await setRole("viewer")).role).toBe("viewer");
    expect(await codeOf(socket)).toBe("FORBIDDEN");
    await setRole("editor");
    expect(await codeOf(socket)).toBeUndefined();
    const events = await socket.takeEvents();
    expect(events.filter(({ event }) => event === "roleChanged").map(({ data }) => data)).toEqual([
      { role: "viewer" },
      { role: "editor" },
    ]);
  });

  it("holds for tokens that the user has already, in joins and over REST", async () => {
    const { api, user, issue, setRole, join } = await setUp("editor");
    const short = await issue({ ttl: 60 });
    await setRole("viewer");
    const deletion = { key: "r/k/uploads/f" };
    for (const token of [user.token, short]) {
      expect((await join(token)).role).toBe("viewer");
      expect((await api.as(token).json("DELETE", "/upload", deletion)).status).toBe(403);
    }
    await setRole("editor");
    for (const token of [user.token, short]) {
      expect((await join(token)).role).toBe("editor");
      expect((await api.as(token).json("DELETE", "/upload", deletion)).status).toBe(404);
    }
  });

  it("raises neither a token nor a connection that asked for less", async () => {
    const { api, user, issue, setRole, join } = await setUp("viewer");
    const narrow = await issue({ ttl: 60, role: "viewer" });
    const sockets = [await join(narrow), await join(user.token, { role: "viewer" })];
    await setRole("editor");
    for (const { socket } of sockets) expect(await codeOf(socket)).toBe("FORBIDDEN");
    expect((await join(narrow)).role).toBe("viewer");
    expect((await api.as(narrow).json("DELETE", "/upload", { key: "r/k/uploads/f" })).status).toBe(403);
    expect((await join(user.token)).role).toBe("editor");
  });
});
