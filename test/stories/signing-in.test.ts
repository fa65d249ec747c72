/** Signing in to the dashboard across the network, with the password that `npm start` printed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Service, startService } from "../cli/service.ts";
import { preparedState } from "../cli/shared-service.ts";
import type { Answer } from "./client.ts";

let persistTo: string;
let service: Service;
/** The cookie that a browser would keep. */
let cookie = "";

beforeAll(async () => {
  persistTo = await mkdtemp(path.join(tmpdir(), "atrium-"));
  service = await startService({ persistTo, preparedState: await preparedState() });
});
afterAll(async () => {
  await service?.kill();
  await rm(persistTo, { recursive: true, force: true });
});

/** Sends a request as the dashboard's page does, unless `headers` say otherwise, and keeps the cookie of the response. */
async function send<Data = Record<string, unknown>>(
  method: string,
  address: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<Data> & { headers: Headers }> {
  const response = await fetch(service.url + address, {
    method,
    headers: {
      Origin: service.url,
      Cookie: cookie,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const [kept] = response.headers.getSetCookie();
  if (kept !== undefined) cookie = kept.split(";")[0] ?? "";
  const { data, error } = (await response.json()) as Answer<Data>;
  return { status: response.status, headers: response.headers, data, error };
}

const rooms = () => `/v1/accounts/${service.accountId}/rooms`;

it("a person signs in with the printed password", async () => {
  const answer = await send("POST", "/dashboard/api/sign-in", service.signIn);
  expect(answer.status).toBe(200);
  expect(answer.data).toMatchObject({ organizations: [{ id: service.accountId, role: "owner" }] });
  expect(answer.headers.get("Set-Cookie")).toMatch(/^__Host-.*; HttpOnly; Secure; SameSite=Strict$/);
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
});

it("the cookie alone gives access to the API", async () => {
  expect((await send("POST", rooms(), { name: "By cookie" })).status).toBe(201);
  const { data } = await send<{ rooms: { name: string }[] }>("GET", rooms());
  expect(data.rooms.map(({ name }) => name)).toEqual(["By cookie"]);
});

it("a page of another origin can change nothing, on this machine or elsewhere", async () => {
  const port = Number(new URL(service.url).port);
  for (const headers of [
    { Origin: "https://elsewhere.test" },
    { Origin: `http://localhost:${port + 1}` },
    { Origin: `http://127.0.0.1:${port}` },
    { "Sec-Fetch-Site": "same-site" },
  ] as Record<string, string>[]) {
    for (const [method, address] of [
      ["POST", rooms()],
      ["POST", "/dashboard/api/organizations"],
    ] as const) {
      const answer = await send(method, address, { name: "By another page" }, headers);
      expect([answer.status, answer.error?.code], JSON.stringify(headers)).toEqual([403, "FORBIDDEN"]);
    }
  }
  const foreign = await send("GET", rooms(), undefined, { Origin: "https://elsewhere.test" });
  expect(foreign.headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(foreign.headers.get("Access-Control-Allow-Credentials")).toBeNull();
  expect((await send<{ total: number }>("GET", rooms())).data.total).toBe(1);
});

it("a person stays signed in when the service restarts", async () => {
  await service.kill();
  service = await startService({ persistTo, port: service.port });
  expect((await send("GET", "/dashboard/api/me")).status).toBe(200);
  expect((await send("GET", rooms())).status).toBe(200);
});

it("after signing out, the cookie is no longer accepted", async () => {
  const copy = cookie;
  expect((await send("POST", "/dashboard/api/sign-out")).status).toBe(200);
  expect(cookie).toBe("__Host-atrium_session=");
  for (const address of [rooms(), "/dashboard/api/me"]) {
    expect((await send("GET", address, undefined, { Cookie: copy })).status).toBe(401);
  }
});
