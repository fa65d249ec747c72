/** `/demo` and its visitors: present when DEMO_ACCOUNT_ID is set, and open to anyone at a limited rate. */

import { env } from "cloudflare:workers";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import { describe, expect, it } from "vitest";
import { FIGURES, pointsOf, wayBetween } from "../../examples/demo/helpers/motion.ts";
import { crosses, distanceTo, type Kind, MAX_POINTS, pathOf } from "../../examples/demo/room/shape.ts";
import { BOARD } from "../../src/demo/boards.ts";
import { SEED } from "../../src/demo/seed.ts";
import { type Account, type Answer, account, bearer, freshAddress, ORIGIN } from "../support/api.ts";
import { askAs, askDemo, identityClaims, visit } from "./visit.ts";

interface Asked {
  readonly method?: string;
  readonly address?: string;
  readonly origin?: string;
}

function ask(accountId: string | undefined, path: string, asked: Asked = {}): Promise<Response> {
  const { method = "GET", address = freshAddress(), origin = ORIGIN } = asked;
  const headers = { "CF-Connecting-IP": address };
  return askDemo(accountId, new Request(origin + path, { method, headers }));
}

async function roomsOf({ api }: Account): Promise<Room[]> {
  return (await api.get<{ rooms: Room[] }>("/rooms")).data.rooms;
}

async function usersOf({ api }: Account, room: Room | undefined): Promise<User[]> {
  return (await api.get<{ users: User[] }>(`/users?roomId=${room?.id}`)).data.users;
}

describe("a Worker without DEMO_ACCOUNT_ID", () => {
  it("has no demo and explains how to get one", async () => {
    const response = await ask(undefined, "/demo");
    expect(response.status).toBe(404);
    expect((await response.json<Answer>()).error?.message).toContain("DEMO_ACCOUNT_ID");
  });

  it("rejects visitors", async () => {
    const { status, error } = await visit(undefined, "?name=Ada");
    expect([status, error?.code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("GET /demo", () => {
  it("is a page that can run, load and reach this service only", async () => {
    for (const [origin, socket] of [
      ["https://atrium.test", "wss://atrium.test"],
      ["http://localhost:8787", "ws://localhost:8787"],
    ] as const) {
      const response = await ask("some-organization", "/demo", { origin });
      expect(response.status).toBe(200);
      expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("Content-Security-Policy")).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self' ${socket}; form-action 'none'; frame-ancestors 'self'; base-uri 'none'`,
      );
      expect(response.headers.get("X-Frame-Options")).toBe("SAMEORIGIN");
      expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(response.headers.get("Referrer-Policy")).toBe("no-referrer");
    }
  });

  it("references only existing files, each with the right type", async () => {
    const page = await (await ask("some-organization", "/demo")).text();
    const files = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, file = ""]) => file);
    expect(files.sort()).toEqual([
      "/assets/demo/app.js",
      "/assets/demo/style.css",
      "/assets/style/figtree.woff2",
      "/assets/style/mark.svg",
    ]);
    for (const file of files) {
      const response = await env.ASSETS.fetch(ORIGIN + file);
      await response.body?.cancel();
      const types = { js: "text/javascript", svg: "image/svg+xml", css: "text/css", woff2: "font/woff2" };
      const type = new Map(Object.entries(types)).get(file.split(".")[1] ?? "");
      expect([response.status, response.headers.get("Content-Type")?.split(";")[0]]).toEqual([200, type]);
    }
    expect((await ask("some-organization", "/demo/other.js")).status).toBe(404);
  });
});

describe("POST /demo/visitors", () => {
  it("opens a board for a visitor without one, and creates a user for each who has its code", async () => {
    const owner = await account();
    const first = await visit(owner.id, "?name=Ada");
    const code = first.data.room ?? "";
    expect(code).toMatch(/^[0-9a-f]{12}$/);
    const tokens = new Set([first.data.token]);
    for (const name of ["Bo", "Bo"]) {
      const { status, data } = await visit(owner.id, `?name=${name}&room=${code}`);
      expect([status, data.room]).toEqual([201, code]);
      tokens.add(data.token);
    }
    expect(tokens.size).toBe(3);
    const rooms = await roomsOf(owner);
    expect(rooms).toMatchObject([{ custom_id: `demo:${code}`, state: "active", total_users_created: 3 }]);
    expect((await usersOf(owner, rooms[0])).map(({ name, role }) => [name, role])).toEqual([
      ["Bo", "editor"],
      ["Bo", "editor"],
      ["Ada", "editor"],
    ]);
  });

  it("gives each visitor without a code a board of their own, with the same first notes and drawings", async () => {
    const owner = await account();
    const [one, other] = [await visit(owner.id, ""), await visit(owner.id, "")];
    expect(one.data.room).not.toBe(other.data.room);
    for (const room of await roomsOf(owner)) {
      const valuesOf = async (store: string) => {
        const path = `/rooms/${room.id}/stores/${store}`;
        const { data } = await owner.api.get<{ entries: Record<string, { value: unknown }> }>(path);
        return Object.fromEntries(Object.entries(data.entries).map(([key, { value }]) => [key, value]));
      };
      expect({ notes: await valuesOf("notes"), shapes: await valuesOf("shapes") }).toEqual(SEED);
    }
  });

  it("creates one room for many first visitors at once", async () => {
    const owner = await account();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => visit(owner.id, "?name=Cleo&room=together")),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    const rooms = await roomsOf(owner);
    expect(rooms).toMatchObject([{ custom_id: "demo:together", total_users_created: 20 }]);
  });

  it("returns a token for the room and nothing else", async () => {
    const owner = await account();
    const { data } = await visit(owner.id, "?name=Ada");
    const [room] = await roomsOf(owner);
    const visitor = owner.api.as(data.token ?? "");
    expect((await visitor.get(`/users?roomId=${room?.id}`)).status).toBe(200);
    expect((await visitor.get("/rooms")).status).toBe(403);
  });

  it("names visitors without a name, and accepts the names that the API accepts", async () => {
    const owner = await account();
    expect((await visit(owner.id, "")).status).toBe(201);
    const [room] = await roomsOf(owner);
    const [guest] = await usersOf(owner, room);
    expect(guest?.name).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+$/);
    for (const query of ["", "%00", "x".repeat(256), "Ada&name=Bo", "Ada&room=a", "Ada&room=Über-uns"]) {
      const { status, error } = await visit(owner.id, `?name=${query}`);
      expect([status, error?.code]).toEqual([400, "BAD_REQUEST"]);
    }
    expect(await usersOf(owner, room)).toHaveLength(1);
  });

  it("explains that DEMO_ACCOUNT_ID is not the id of an organization", async () => {
    const { status, error } = await visit("00000000-0000-4000-8000-000000000000", "?name=Ada");
    expect([status, error?.message]).toEqual([
      404,
      "DEMO_ACCOUNT_ID is not the id of an organization; set it to one of this service",
    ]);
  });

  it("limits the visitors of one address, and not those of others", async () => {
    const owner = await account();
    const address = freshAddress();
    let welcomed = 0;
    const next = () => visit(owner.id, `?room=ours-${welcomed % 2}`, address);
    let last = await next();
    // The first window of a minute may end while they come; the second one cannot end before it is full.
    for (; last.status === 201 && welcomed < 70; welcomed += 1) {
      last = await next();
    }
    expect(welcomed).toBeGreaterThanOrEqual(30);
    expect([last.status, last.error?.code, last.headers.get("Retry-After")]).toEqual([
      429,
      "RATE_LIMITED",
      "60",
    ]);
    expect((await visit(owner.id, "?name=Bo")).status).toBe(201);
  });
});

it("a visitor's token lasts as long as a board", async () => {
  const { token } = (await visit((await account()).id, "?name=Ada")).data;
  const { iat, exp } = identityClaims(token);
  expect((exp - iat) * 1_000).toBe(BOARD.lifetimeMs);
});

describe("POST /demo/helpers", () => {
  const admit = (accountId: string, token: string, authorization?: string) =>
    askAs<{ tokens?: string[] }>(accountId, token, ["POST", "helpers"], authorization);

  it("returns the tokens of the board's two helpers, whom several requests at once create once", async () => {
    const owner = await account();
    const { token = "" } = (await visit(owner.id, "?name=Ada")).data;
    const answers = await Promise.all([1, 2, 3].map(() => admit(owner.id, token)));
    const helpers = answers.map(({ data: { tokens = [] } }) =>
      tokens.map((each) => identityClaims(each).identityId),
    );
    expect(new Set(helpers.map(String)).size).toBe(1);
    const [room] = await roomsOf(owner);
    expect((await usersOf(owner, room)).map(({ name, custom_id }) => [name, custom_id]).sort()).toEqual([
      ["Ada", undefined],
      ["Helper Juno", "helper-2"],
      ["Helper Pip", "helper-1"],
    ]);
  });

  it("answers with the tokens when it has an Idempotency-Key, and keeps none of them", async () => {
    const owner = await account();
    const { token = "" } = (await visit(owner.id, "?name=Ada")).data;
    const ask = () => askAs<object>(owner.id, token, ["POST", "helpers"], undefined, "a");
    expect(await ask()).toMatchObject({
      status: 201,
      data: { tokens: [expect.any(String), expect.any(String)] },
    });
    expect((await ask()).status).toBe(409);
  });

  it("gives no helpers to those who are no users of a board", async () => {
    const owner = await account();
    const { token = "" } = (await visit(owner.id, "?name=Ada")).data;
    const { id } = await owner.api.createRoom({ customId: "demonstration" });
    const user = await owner.api.createUser(id);
    for (const credential of [`Bearer ${user.token}`, bearer(owner.id, owner.apiKey)]) {
      expect((await admit(owner.id, token, credential)).status).toBe(403);
      expect((await askAs(owner.id, token, ["GET", "sharing"], credential)).status).toBe(403);
    }
  });
});

// The lines of shapes: what an eraser hits, and what is drawn.

const shape = (kind: Kind, ...points: number[]) => ({ kind, tint: 0, points });

it("the distance to a shape is that to its lines, and not to what they enclose", () => {
  const middle = { x: 50, y: 50 };
  expect(distanceTo(shape("box", 0, 0, 100, 100), middle)).toBeCloseTo(50);
  expect(distanceTo(shape("oval", 0, 0, 100, 100), middle)).toBeCloseTo(50, 0);
  expect(distanceTo(shape("arrow", 0, 0, 100, 100), middle)).toBeCloseTo(0);
  expect(distanceTo(shape("pen", 0, 0, 100, 0, 100, 100), middle)).toBeCloseTo(50);
  expect(distanceTo(shape("pen", 0, 0, 0, 0), { x: 3, y: 4 })).toBeCloseTo(5);
});

it("a box crosses a shape where it touches a line of it, and not within what the lines enclose", () => {
  const box = (x: number, y: number, size: number) => ({ x, y, width: size, height: size });
  const outline = shape("box", 0, 0, 100, 100);
  expect(crosses(outline, box(20, 20, 60))).toBe(false);
  expect(crosses(outline, box(90, 40, 20))).toBe(true);
  expect(crosses(outline, box(-10, -10, 120))).toBe(true);
  expect(crosses(shape("pen", -500, 0, 500, 1), box(0, -10, 20))).toBe(true);
  expect(crosses(shape("pen", -500, 0, 500, 1), box(0, 10, 20))).toBe(false);
});

it("a path begins and ends where the shape does", () => {
  expect(pathOf(shape("pen", 0, 0, 10, 0))).toBe("M0 0L10 0");
  expect(pathOf(shape("pen", 0, 0, 10, 0, 10, 10))).toBe("M0 0Q10 0 10 10");
  expect(pathOf(shape("pen", 0, 0, 10, 0, 10, 10, 20, 10))).toBe("M0 0Q10 0 10 5Q10 10 20 10");
  expect(pathOf(shape("box", 10, 20, 30, 40))).toBe("M30 40L10 40L10 20L30 20L30 40");
  expect(pathOf(shape("arrow", 0, 0, 100, 0))).toMatch(/^M0 0L100 0M86 -7\.7L100 0L86 7\.7$/);
});

// How the helpers of the demo move and what they draw.

it("a hand ends where it should, and is slow at both ends", () => {
  const [from, to] = [
    { x: -100, y: 40 },
    { x: 500, y: -200 },
  ];
  for (const chance of [0, 0.5, 1]) {
    const way = [from, ...wayBetween(from, to, () => chance)];
    expect(way.at(-1)).toEqual(to);
    const lengths = way.slice(1).map(({ x, y }, index) => {
      const before = way[index] ?? from;
      return Math.hypot(x - before.x, y - before.y);
    });
    const fastest = Math.max(...lengths);
    expect(fastest).toBeLessThan(70);
    expect(lengths[0]).toBeLessThan(fastest / 2);
    expect(lengths.at(-1)).toBeLessThan(fastest / 2);
  }
});

it("a hand that stays still stays where it is", () => {
  const place = { x: 7, y: 7 };
  expect(new Set(wayBetween(place, place, () => 1).map(({ x, y }) => `${x},${y}`))).toEqual(new Set(["7,7"]));
});

it("figures fit beside notes, and into one shape", () => {
  for (const figure of FIGURES) {
    const points = pointsOf(figure, { x: 0, y: 0 });
    expect(points.length).toBeLessThanOrEqual(2 * MAX_POINTS);
    expect(Math.max(...points.map(Math.abs))).toBeLessThanOrEqual(60);
    expect(points.every(Number.isInteger)).toBe(true);
  }
});
