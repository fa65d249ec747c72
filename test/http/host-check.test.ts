/** Which requests the Worker answers where no edge stands before it, and what it makes of their addresses. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { admit } from "../../src/http/security.ts";
import worker from "../../src/index.ts";
import { addressOf } from "../../src/platform/network.ts";

const LOCAL = { ...env, ALLOWED_HOSTS: "localhost,127.0.0.1,::1", CLIENT_ADDRESS: "127.0.0.1" };

const send = (url: string, headers: HeadersInit = {}, settings = LOCAL): Promise<Response> =>
  worker.fetch(new Request(url, { headers }), settings, createExecutionContext());

describe("with ALLOWED_HOSTS,", () => {
  it.each(["http://localhost:8787", "http://127.0.0.1:9", "http://[::1]:8787", "http://LOCALHOST./"])(
    "a request to %s is answered",
    async (url) => {
      const { host } = new URL(url);
      expect((await send(`${url}/v1/openapi.json`.replace("//v1", "/v1"), { Host: host })).status).toBe(200);
    },
  );

  it.each([
    ["another name", "http://evil.example", "evil.example"],
    ["a name that begins like ours", "http://localhost.evil.example", "localhost.evil.example"],
    ["another address", "http://10.0.0.1", "10.0.0.1"],
    ["our name in the URL only", "http://localhost", "evil.example"],
    ["our name in the header only", "http://evil.example", "localhost"],
  ])("a request by %s is refused", async (_, url, host) => {
    const response = await send(`${url}/v1/openapi.json`, { Host: host });
    expect(response.status).toBe(403);
    expect(response.headers.has("Access-Control-Allow-Origin")).toBe(false);
    expect(await response.json()).toMatchObject({
      error: { code: "FORBIDDEN", message: expect.stringContaining("ALLOWED_HOSTS") },
    });
  });

  it("every name is answered when it is empty or *", async () => {
    for (const ALLOWED_HOSTS of ["", "*"]) {
      const response = await send("http://any.example/v1/openapi.json", {}, { ...LOCAL, ALLOWED_HOSTS });
      expect(response.status).toBe(200);
    }
  });
});

describe("a client's address", () => {
  const request = new Request("http://localhost/", {
    headers: { Host: "localhost", "CF-Connecting-IP": "203.0.113.7", "X-Forwarded-For": "203.0.113.8" },
  });

  it("is what CLIENT_ADDRESS says, not what the client claims", () => {
    expect(addressOf(admit(request, LOCAL))).toBe("127.0.0.1");
  });

  it("is what the edge says where there is one", () => {
    expect(addressOf(admit(request, env))).toBe("203.0.113.7");
  });
});
