/** The dashboard's page: its paths, and its permissions in the browser. */

import { env } from "cloudflare:workers";
import type { WebhookEventName } from "@atrium/contract/resources/events.ts";
import { Webhook } from "@atrium/contract/rest/webhooks.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actOnSeveral } from "../../packages/dashboard/data/act-on-several.ts";
import { nameInPath, pathPartOf } from "../../packages/dashboard/data/address.ts";
import { readRefusal } from "../../packages/dashboard/data/messages.ts";
import {
  NONE,
  type Selected,
  switchAll,
  switchRow,
  switchSome,
} from "../../packages/dashboard/data/use-selection.ts";
import {
  changedDocuments,
  itemOfEvent,
  itemOfFeed,
  mergeItems,
} from "../../packages/dashboard/live/stream.ts";
import { arrange, boundsOf, pointIn, summaryOf } from "../../packages/dashboard/room/presence.ts";
import { dashboardPage } from "../../src/dashboard/routes.ts";
import { sampleEvent } from "../../src/features/webhooks/sample-event.ts";

/** Serves the page, as the build writes it. */
const ASSETS = {
  fetch: async (input: RequestInfo | URL) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    return pathname === "/dashboard/"
      ? new Response("<!doctype html>")
      : new Response("none", { status: 404 });
  },
} as Fetcher;

const get = (path: string, origin = "https://atrium.test") =>
  dashboardPage(new Request(origin + path), { ASSETS });

describe("the dashboard's page", () => {
  it.each(["/dashboard", "/dashboard/", "/dashboard/rooms/1", "/dashboard/invitations/a.b"])(
    "is one for all of its views: %s",
    async (path) => {
      const response = await get(path);
      expect([response.status, await response.text()]).toEqual([200, "<!doctype html>"]);
      expect(response.headers.get("Cache-Control")).toBe("no-cache");
    },
  );

  it("begins to load the overview for those who are signed in, which names files that exist", async () => {
    const ask = async (path: string, cookie?: string) => {
      const headers = new Headers(cookie === undefined ? {} : { Cookie: cookie });
      return (await dashboardPage(new Request(`https://atrium.test${path}`, { headers }), env)).text();
    };
    const signedIn = "__Host-atrium_session=a";
    const plain = await ask("/dashboard");
    const early = await ask("/dashboard", signedIn);
    expect(await ask(`/dashboard/${crypto.randomUUID()}`, signedIn)).toBe(early);
    expect(await ask("/dashboard/sign-in", signedIn)).toBe(plain);
    const filesOf = (page: string) =>
      [...page.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, file = ""]) => file);
    expect(filesOf(early)).toEqual(expect.arrayContaining(filesOf(plain)));
    for (const name of ["early", "overview-page"]) expect(early).toContain(`/${name}-`);
    for (const file of filesOf(early)) {
      const response = await env.ASSETS.fetch(`https://atrium.test${file}`);
      await response.body?.cancel();
      expect([file, response.status]).toEqual([file, 200]);
    }
  });

  it("can load, run and reach this service only, and cannot be framed", async () => {
    const { headers } = await get("/dashboard");
    expect(headers.get("Content-Security-Policy")?.split("; ").toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self' wss://atrium.test",
      "default-src 'none'",
      "font-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' blob: data:",
      "media-src 'self' blob:",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
    expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
    expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it("reaches its WebSockets when it is served without TLS", async () => {
    const { headers } = await get("/dashboard", "http://localhost:8787");
    expect(headers.get("Content-Security-Policy")).toContain("connect-src 'self' ws://localhost:8787;");
  });
});

// The field that a refusal concerns.

describe("a refusal", () => {
  it.each([
    ["url: must begin with https://", { field: "url", problem: "Must begin with https://" }],
    ["schedule.cron: must have five fields", { field: "schedule.cron", problem: "Must have five fields" }],
    ["name is required", { field: "name", problem: "name is required" }],
    [
      "customId is already used by another room of the organization",
      { field: "customId", problem: "customId is already used by another room of the organization" },
    ],
  ])("names its field first: %s", (message, problem) => {
    expect(readRefusal(message)).toEqual(problem);
  });

  it("begins otherwise where it concerns no field", () => {
    expect(readRefusal("")).toBe(null);
  });
});

// Names in the addresses of pages.

it("any name is one part of a path, and comes back from the router", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (name) => {
      const part = pathPartOf(name);
      expect(part).not.toMatch(/[/?#]/);
      expect(nameInPath(decodeURI(part))).toBe(name);
    }),
    { examples: [["notes/today"], ["100%"], ["a%2Fb"], ["why? #1"], ["my notes"]] },
  );
});

it("an address that a person has typed is taken as it is", () => {
  expect([nameInPath("my notes"), nameInPath("100%")]).toEqual(["my notes", "100%"]);
});

// The timeline of a room: one sentence for each thing that happened, whatever says so.

const AT = new Date("2026-01-02T03:04:05.000Z");
const nameOf = (id: string) => ({ u1: "Bo" })[id] ?? id;

const document = (name: string, seq: number, createdAt = "2026-01-01T00:00:00.000Z") => ({
  ...{ name, seq, bytes: 1, created_at: createdAt, updated_at: `2026-01-02T00:00:0${seq}.000Z` },
  ...{ participants: 0, participant_ids: [] },
});

describe("the timeline", () => {
  it("says what was broadcast and written, and by whom", () => {
    const broadcast = { type: "broadcast", event: "ping", data: { n: 1 }, by: "u1" } as const;
    expect(itemOfFeed(broadcast, AT, 1, nameOf)).toEqual({
      ...{ id: "live 1", at: AT.toISOString(), kind: "broadcasts", userId: "u1" },
      ...{ text: "Bo broadcast ping", value: { event: "ping", data: { n: 1 } } },
    });
    const write = { type: "write", store: "tasks", key: "milk", value: null, by: null } as const;
    const written = itemOfFeed({ ...write, isDeletion: false }, AT, 2, nameOf);
    expect(written.text).toBe("The back end set milk in tasks");
    const deleted = itemOfFeed({ ...write, isDeletion: true, by: "u1" }, AT, 3, nameOf);
    expect(deleted.text).toBe("Bo deleted milk from tasks");
  });

  it("has a sentence for each event of access, identities and groups", () => {
    const webhook = Webhook.parse(Webhook.meta()?.example);
    const ctx = { newId: () => crypto.randomUUID(), now: () => 0, origin: "", trace: { requestId: "r" } };
    const textOf = (name: WebhookEventName) =>
      itemOfEvent(JSON.parse(sampleEvent(ctx, { ...webhook, events: [name] }).body), nameOf).text;
    expect(textOf("access.changed")).toBe("The access to the room was changed");
    expect(textOf("identity.deleted")).toBe("The identity was deleted");
    expect(textOf("group.updated")).toBe("The group was updated");
  });

  it("says which documents were created, changed and deleted", () => {
    const before = [document("same", 1), document("changed", 1), document("gone", 1), document("again", 2)];
    const again = document("again", 1, "2026-01-02T00:00:00.000Z");
    const after = [document("same", 1), document("changed", 2), document("new", 1), again];
    expect(changedDocuments(before, after, AT).map(({ text }) => text)).toEqual([
      "The document changed was updated",
      "The document new was created",
      "The document again was created",
      "The document gone was deleted",
    ]);
    expect(changedDocuments(after, after, AT)).toEqual([]);
  });

  it("has each item once, newest first, and no more than a page can show", () => {
    const item = (second: number) => ({
      id: `${second}`,
      at: new Date(second * 1000).toISOString(),
      ...({ kind: "stores", text: "", userId: null, value: null } as const),
    });
    const many = Array.from({ length: 150 }, (_, second) => item(second));
    const merged = mergeItems(many, many.slice(100));
    expect(merged.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => `${149 - index}`));
  });
});

// Selecting rows of a list.

const ROWS = ["a", "b", "c", "d", "e"];

/** The selection after these clicks; one with a `+` was made with Shift. */
const after = (...clicks: string[]): Selected =>
  clicks.reduce(
    (selected, click) => switchRow(selected, ROWS, click.replace("+", ""), click.endsWith("+")),
    NONE,
  );
const idsOf = ({ ids }: Selected): string => [...ids].sort().join("");

it("switches one row and keeps the others", () => {
  expect(idsOf(after("b", "d"))).toBe("bd");
  expect(idsOf(after("b", "d", "b"))).toBe("d");
});

it("extends from the row before in both directions, to what the clicked row becomes", () => {
  expect(idsOf(after("b", "d+"))).toBe("bcd");
  expect(idsOf(after("d", "b+"))).toBe("bcd");
  expect(idsOf(after("a", "e+", "d", "b+"))).toBe("ae");
});

it("selects one row when there is none before, or when that is not shown any more", () => {
  expect(idsOf(after("c+"))).toBe("c");
  expect(idsOf(switchRow({ ids: new Set(), anchor: "gone" }, ROWS, "c", true))).toBe("c");
});

it("selects all rows, and then none", () => {
  const all = switchAll(after("c"), ROWS);
  expect(idsOf(all)).toBe("abcde");
  expect(switchAll(all, ROWS)).toEqual(NONE);
});

it("selects a group beside other rows, and then only those", () => {
  const some = switchSome(after("a", "c"), ["b", "c", "d"]);
  expect(idsOf(some)).toBe("abcd");
  expect(idsOf(switchSome(some, ["b", "c", "d"]))).toBe("a");
});

// Acting on several rows of a list.

const ITEMS = Array.from({ length: 20 }, (_, index) => index + 1);
const never = () => false;

/** The outcome of an action, by the result of `act` for each item. */
async function run(
  act: (item: number) => Promise<unknown>,
  endsAll: (error: Error | null) => boolean = never,
) {
  const seen: number[] = [];
  const onProgress = (ended: number) => seen.push(ended);
  const progress = { onProgress, signal: new AbortController().signal };
  return { outcome: await actOnSeveral(ITEMS, act, endsAll, progress), seen };
}

it("acts on each once, a few at a time, and counts what has ended", async () => {
  const acted: number[] = [];
  let running = 0;
  let most = 0;
  const { outcome, seen } = await run(async (item) => {
    acted.push(item);
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
  });
  expect(acted.toSorted((one, other) => one - other)).toEqual(ITEMS);
  expect(most).toBe(6);
  expect(seen).toEqual(ITEMS);
  expect(outcome).toEqual({ done: ITEMS, refused: [], left: [] });
});

it("names what was refused and why, and goes on", async () => {
  const error = new Error("The last owner cannot leave.");
  const { outcome } = await run((item) => (item % 7 === 0 ? Promise.reject(error) : Promise.resolve()));
  expect(outcome.refused).toEqual([
    { item: 7, error },
    { item: 14, error },
  ]);
  expect(outcome.done).toHaveLength(18);
  expect(outcome.left).toEqual([]);
});

it("begins nothing more after an error that concerns all of them", async () => {
  const { outcome } = await run(
    (item) => (item === 3 ? Promise.reject(new Error("gone")) : Promise.resolve()),
    (error) => error !== null,
  );
  expect(outcome.refused.map(({ item }) => item)).toEqual([3]);
  expect(outcome.left.length).toBeGreaterThan(0);
  expect(outcome.done.length + outcome.refused.length + outcome.left.length).toBe(ITEMS.length);
});

it("ends what is under way and begins nothing more once it is stopped", async () => {
  const stop = new AbortController();
  const begun: number[] = [];
  const outcome = await actOnSeveral(
    ITEMS,
    async (item) => {
      begun.push(item);
      if (item === 2) stop.abort();
    },
    never,
    { onProgress: () => undefined, signal: stop.signal },
  );
  expect(outcome.done).toEqual(begun);
  expect(outcome.left).toEqual(ITEMS.filter((item) => !begun.includes(item)));
  expect(outcome.left.length).toBeGreaterThan(0);
});

// Coordinates in presence: which are found, and the part of the plane that a map shows.

it.each([
  [
    { cursor: { x: 1, y: 2 }, color: "red" },
    { x: 1, y: 2 },
  ],
  [
    { x: 3, y: 4 },
    { x: 3, y: 4 },
  ],
  [
    { cursor: null, mouse: { x: -1, y: 0.5, z: 1 } },
    { x: -1, y: 0.5 },
  ],
  [{ cursor: { x: "1", y: 2 } }, null],
  [{ cursor: { x: Number.NaN, y: 2 } }, null],
  [{ path: [1, 2] }, null],
  [undefined, null],
])("the point in a presence state of %j is %j", (state, point) => {
  if (point === null) expect(pointIn(state)).toBeNull();
  else expect(pointIn(state)).toMatchObject(point);
});

it.each([
  [[{ x: 120, y: 40 }], { min: { x: 0, y: 0 }, max: { x: 150, y: 40 } }],
  [[{ x: 0.3, y: 0.9 }], { min: { x: 0, y: 0 }, max: { x: 0.3, y: 1 } }],
  [
    [
      { x: -30, y: 0 },
      { x: 700, y: 0 },
    ],
    { min: { x: -30, y: 0 }, max: { x: 800, y: 1 } },
  ],
  [[{ x: 0, y: 0 }], { min: { x: 0, y: 0 }, max: { x: 1, y: 1 } }],
])("a map of %j shows %j", (points, bounds) => {
  const { min, max } = boundsOf(points);
  for (const corner of ["x", "y"] as const) {
    expect(min[corner]).toBeCloseTo(bounds.min[corner], 9);
    expect(max[corner]).toBeCloseTo(bounds.max[corner], 9);
  }
});

it("says in words what a user shows, and leaves out colors and what is off", () => {
  const state = {
    ...{ cursor: { x: 120.4, y: 40 }, color: "#c2410c", isTyping: true, isAway: false },
    ...{ selectedIds: ["a", "b"], tool: "pencil", editor: { line: 12, file: { name: { deep: 1 } } } },
  };
  expect(summaryOf(state)).toBe(
    "cursor at 120, 40 · typing · selected ids: 2 · tool: pencil · editor (line: 12 · file (…))",
  );
  expect(summaryOf({ x: 1, y: 2 })).toBe("at 1, 2");
  expect(summaryOf({ color: "red", note: "", list: [], none: null })).toBe("");
});

const overlap = (
  one: { left: number; top: number; width: number; height: number },
  other: { left: number; top: number; width: number; height: number },
) =>
  one.left < other.left + other.width &&
  other.left < one.left + one.width &&
  one.top < other.top + other.height &&
  other.top < one.top + one.height;

it("places any number of cursors on a map: faces and names overlap nothing, and no one is left out", () => {
  const point = fc.record({ x: fc.integer({ min: -50, max: 1_000 }), y: fc.integer({ min: 0, max: 600 }) });
  const cursor = fc.record({ id: fc.uuid(), name: fc.string({ maxLength: 40 }), point });
  fc.assert(
    fc.property(fc.array(cursor, { minLength: 1, maxLength: 200 }), (cursors) => {
      const map = { width: 340, height: 190 };
      const markers = arrange(cursors, boundsOf(cursors.map((one) => one.point)), map);
      const placed = markers.flatMap((one) => one.cursors.map(({ id }) => id));
      expect(placed.toSorted()).toEqual(cursors.map(({ id }) => id).toSorted());
      const boxes = markers.flatMap(({ face, name }) => (name === null ? [face] : [face, name]));
      for (const [index, box] of boxes.entries()) {
        expect(box.left >= 0 && box.top >= 0).toBe(true);
        expect(box.left + box.width <= map.width && box.top + box.height <= map.height).toBe(true);
        expect(boxes.slice(index + 1).filter((other) => overlap(box, other))).toEqual([]);
      }
    }),
    { numRuns: 40 },
  );
  const together = ["Ada", "Bo", "Cleo"].map((name) => ({ id: name, name, point: { x: 5, y: 5 } }));
  const [marker] = arrange(together, boundsOf([{ x: 5, y: 5 }]), { width: 340, height: 190 });
  expect(marker?.label).toBe("Ada +2");
});
