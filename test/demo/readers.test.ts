/** Quickstarts with a demo frame their own pages, for whose readers the demo has a room of an hour; without one they keep their pictures. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { BOARD } from "../../src/demo/boards.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, account, freshAddress, ORIGIN } from "../support/api.ts";
import { answerOf, askAs, askDemo, visit } from "./visit.ts";

async function read({ id }: Account, query: string, address = freshAddress(), from: HeadersInit = {}) {
  const headers = { "CF-Connecting-IP": address, ...from };
  const request = new Request(`${ORIGIN}/demo/readers${query}`, { method: "POST", headers });
  return answerOf<{ readonly token?: string }>(await askDemo(id, request));
}

interface Listed {
  readonly id: string;
  readonly custom_id: string;
}

const roomsOf = async ({ api }: Account): Promise<readonly Listed[]> =>
  (await api.get<{ rooms: Listed[] }>("/rooms")).data.rooms;

it("opens one empty room for the windows of a page, and another one for each other page, which no board's link leads to", async () => {
  const owner = await account();
  const [ada, bo] = await Promise.all(["Ada", "Bo"].map((name) => read(owner, `?name=${name}&room=one1`)));
  expect([ada?.status, bo?.status]).toEqual([201, 201]);
  const [room] = await roomsOf(owner);
  expect(room?.custom_id).toBe("demo:quickstart:one1");
  const reader = owner.api.as(ada?.data.token ?? "");
  const { data } = await reader.get<{ users: { name: string }[] }>(`/users?roomId=${room?.id}`);
  expect(data.users.map(({ name }) => name).sort()).toEqual(["Ada", "Bo"]);
  expect((await reader.get(`/rooms/${room?.id}/stores/notes`)).data).toMatchObject({ entries: {} });
  await read(owner, "?name=Ada&room=two2");
  await visit(owner.id, "?name=Ada&room=one1");
  const names = (await roomsOf(owner)).map(({ custom_id }) => custom_id);
  expect(names.sort()).toEqual(["demo:one1", "demo:quickstart:one1", "demo:quickstart:two2"]);
  expect((await visit(owner.id, "?room=quickstart:one1")).status).toBe(400);
});

it("deletes the room after an hour", async () => {
  const owner = await account();
  await read(owner, "?name=Ada&room=ours");
  const settings = { ...env, DEMO_ACCOUNT_ID: owner.id };
  await runScheduledTasks(settings, Date.now() + BOARD.quickstartMs - 60_000);
  expect(await roomsOf(owner)).toHaveLength(1);
  await runScheduledTasks(settings, Date.now() + BOARD.quickstartMs + 1);
  expect(await roomsOf(owner)).toEqual([]);
});

it("refuses readers without a name or a room, and those who are too many", async () => {
  const owner = await account();
  for (const query of ["", "?name=Ada", "?room=ours", "?name=Ada&room=a", "?name=%00&room=ours"]) {
    const { status, error } = await read(owner, query);
    expect([query, status, error?.code]).toEqual([query, 400, "BAD_REQUEST"]);
  }
  const address = freshAddress();
  let status = 201;
  // The first window of a minute may end while they come.
  for (let readers = 0; status === 201 && readers <= 61; readers += 1)
    ({ status } = await read(owner, `?name=Ada&room=room-${readers % 2}`, address));
  expect(status).toBe(429);
});

it("lets in no one from the page of another service, and answers only pages of this one", async () => {
  const owner = await account();
  const foreign = [{ Origin: "https://evil.example" }, { "Sec-Fetch-Site": "cross-site" }];
  for (const from of foreign) {
    const answer = await read(owner, "?name=Eve&room=ours", freshAddress(), from);
    expect([answer.status, answer.error?.code]).toEqual([403, "FORBIDDEN"]);
  }
  const own = { Origin: ORIGIN, "Sec-Fetch-Site": "same-origin" };
  const { status, headers } = await read(owner, "?name=Ada&room=ours", freshAddress(), own);
  expect([status, headers?.get("Access-Control-Allow-Origin")]).toEqual([201, null]);
});

it("has no part in what visitors of boards may do", async () => {
  const owner = await account();
  const { data } = await read(owner, "?name=Ada&room=ours");
  for (const request of [
    ["PUT", "sharing", { everyone: "none" }],
    ["POST", "helpers"],
    ["GET", "history"],
  ] as const) {
    const answer = await askAs(owner.id, undefined, request, `Bearer ${data.token}`);
    expect([request[1], answer.status]).toEqual([request[1], 403]);
  }
});

const get = (accountId: string | undefined, path: string) =>
  askDemo(accountId, new Request(`${ORIGIN}${path}`, { headers: { Accept: "text/html" } }));

const policyOf = ({ headers }: Response) => headers.get("Content-Security-Policy")?.split("; ") ?? [];

it("frames only the pages of quickstarts, and only in this service", async () => {
  const page = await get("some-organization", "/docs/quickstarts/list");
  expect(policyOf(page)).toEqual(expect.arrayContaining(["frame-src 'self'", "frame-ancestors 'none'"]));
  expect(await page.text()).toContain('data-live="/docs/live/list"');
  const live = await get("some-organization", "/docs/live/list");
  expect([live.status, live.headers.get("X-Frame-Options")]).toEqual([200, "SAMEORIGIN"]);
  expect(policyOf(live)).toEqual(expect.arrayContaining(["script-src 'self'", "frame-ancestors 'self'"]));
  const text = await live.text();
  expect(text).not.toMatch(/<style|style=|<script>|\son\w+=/);
  for (const [, file] of text.matchAll(/(?:src|href)="(\/assets\/[^"]*)"/g)) {
    const asset = await env.ASSETS.fetch(`${ORIGIN}${file}`);
    await asset.body?.cancel();
    expect([file, asset.status]).toEqual([file, 200]);
  }
  const guide = await get("some-organization", "/docs/guides/stores");
  expect(policyOf(guide).filter((directive) => directive.startsWith("frame-"))).toEqual([
    "frame-ancestors 'none'",
  ]);
  expect(await (await get("some-organization", "/docs/quickstarts/server")).text()).not.toContain(
    "data-live",
  );
});

it("frames nothing where there is no demo", async () => {
  const page = await get(undefined, "/docs/quickstarts/list");
  expect(policyOf(page).filter((directive) => directive.startsWith("frame-src"))).toEqual([]);
  const text = await page.text();
  expect(text).not.toContain("data-live");
  expect(text).toContain("quickstart-list.webp");
  expect(await (await get(undefined, "/docs/quickstarts/list.md")).text()).toMatch(/^# A shared list\n/);
  expect((await get(undefined, "/docs/live/list")).status).toBe(404);
  const { headers } = await get("some-organization", "/docs/quickstarts/list");
  const known = { Accept: "text/html", "If-None-Match": headers.get("ETag") ?? "" };
  const again = await askDemo(undefined, new Request(`${ORIGIN}/docs/quickstarts/list`, { headers: known }));
  expect([again.status, again.headers.get("ETag")]).toEqual([200, null]);
  expect(await again.text()).not.toContain("data-live");
  const head = await askDemo(undefined, new Request(`${ORIGIN}/docs/quickstarts/list`, { method: "HEAD" }));
  expect([head.status, await head.text()]).toEqual([200, ""]);
});
