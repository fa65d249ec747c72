/** Uploads to a dispatch namespace: transient failures are retried, and others are explained. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { namespaceSettings } from "../../src/platform/config.ts";
import { NamespaceApi, NamespaceError } from "../../src/sandbox/runners/namespace-api.ts";

const SETTINGS = namespaceSettings(env.NAMESPACE_SETTINGS);

const UPLOAD = {
  mainModule: "main.js",
  modules: { "main.js": "export default { fetch: () => new Response('here') };" },
  compatibilityDate: "2026-07-01",
  compatibilityFlags: [],
  limits: { cpuMs: 50, subRequests: 400 },
  tags: ["one", "two"],
};

/** RPC alone is no reason to be. */
const silent = {
  ...UPLOAD,
  modules: {
    "main.js":
      'import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { run() {} }',
  },
};

/** The API as the stand-in has it, after these answers of a worse one. */
function apiAfter(failures: (Response | Error)[], settings = SETTINGS) {
  let time = 1_000_000;
  const pauses: number[] = [];
  const requests: Request[] = [];
  const api = new NamespaceApi(settings, {
    fetch: async (input, init) => {
      requests.push(new Request(input, init));
      const failure = failures.shift();
      if (failure instanceof Error) throw failure;
      return failure ?? env.NAMESPACE_API.fetch(input, init);
    },
    now: () => time,
    random: () => 0,
    pause: async (ms) => {
      pauses.push(ms);
      time += ms;
    },
  });
  return { api, pauses, requests };
}

const refusal = (status: number, headers: Record<string, string> = {}) =>
  new Response("<html>Bad gateway</html>", { status, headers });

const isThere = async (name: string): Promise<boolean> => {
  const script = await env.NAMESPACE_DISPATCHER.get(name);
  const answer = await script.fetch(new Request("http://script/")).catch((error: Error) => error);
  if (answer instanceof Response) return (await answer.text()) === "here";
  expect(answer.message).toMatch(/^Worker not found/);
  return false;
};

describe("an upload", () => {
  it("is there when it has returned, and gone after its deletion", async () => {
    const { api, pauses } = apiAfter([]);
    await api.put("plain", UPLOAD);
    expect(await isThere("plain")).toBe(true);
    await api.delete("plain");
    expect(await isThere("plain")).toBe(false);
    await api.delete("plain");
    expect(pauses).toEqual([]);
  });

  it("is tried again after a failure that may pass, each time later", async () => {
    const { api, pauses, requests } = apiAfter([
      refusal(500),
      new Error("Network connection lost."),
      refusal(429),
    ]);
    await api.put("patient", UPLOAD);
    expect(await isThere("patient")).toBe(true);
    expect(pauses).toEqual([500, 1_500, 4_500]);
    expect(new Set(requests.map(({ url }) => url)).size).toBe(1);
  });

  it("waits for as long as it is asked to", async () => {
    const { api, pauses } = apiAfter([refusal(429, { "Retry-After": "7" })]);
    await api.put("asked", UPLOAD);
    expect(pauses).toEqual([7_000]);
  });

  it("gives up when that would take more than 20 s in all, or after four attempts", async () => {
    const slow = apiAfter([refusal(503), refusal(429, { "Retry-After": "20" })]);
    await expect(slow.api.put("late", UPLOAD)).rejects.toThrow(
      "Cloudflare's API answered 429: no reason given",
    );
    expect(slow.pauses).toEqual([500]);
    const dead = apiAfter(Array.from({ length: 9 }, () => new Error("Network connection lost.")));
    await expect(dead.api.put("late", UPLOAD)).rejects.toThrow("did not answer: Network connection lost.");
    expect(dead.requests).toHaveLength(4);
    expect(await isThere("late")).toBe(false);
  });

  it("is not retried when it was refused, and says why", async () => {
    const { api, requests } = apiAfter([]);
    const broken = { ...UPLOAD, modules: { "main.js": "export default {;" } };
    const error = await api.put("broken", broken).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NamespaceError);
    expect(String(error)).toMatch(/answered 400: Uncaught SyntaxError: .*main\.js:1.*\[code: 10021\]/s);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["a name", "Not_A-Name", UPLOAD, "10016"],
    ["too many tags", "tagged", { ...UPLOAD, tags: Array.from("123456789") }, "10021"],
    ["a tag with a comma", "tagged", { ...UPLOAD, tags: ["a,b"] }, "10021"],
    ["a main module that is not there", "headless", { ...UPLOAD, mainModule: "other.js" }, "10021"],
    ["a flag that does not exist", "flagged", { ...UPLOAD, compatibilityFlags: ["no_such_flag"] }, "10021"],
    ["nothing that it could be called for", "silent", silent, "10068"],
    [
      "more than it may have",
      "large",
      { ...UPLOAD, modules: { "main.js": "/".repeat(11_000_000) } },
      "10027",
    ],
  ])("with %s is refused as the real API would", async (_, name, upload, code) => {
    await expect(apiAfter([]).api.put(name, upload)).rejects.toThrow(`[code: ${code}]`);
    expect(await isThere(name)).toBe(false);
  });
});

describe("the message to the operator", () => {
  it.each([
    ["token", "npx wrangler secret put WORKFLOWS_API_TOKEN"],
    ["namespace", "npx wrangler dispatch-namespace create wrong"],
  ])("of a wrong %s names the command to run, and never the token", async (setting, command) => {
    const { api } = apiAfter([], { ...SETTINGS, [setting]: "wrong" });
    const error = await api.put("refused", UPLOAD).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(command);
    expect(String(error)).not.toContain(SETTINGS.token);
  });

  it.each([
    ["WORKFLOWS_CF_ACCOUNT_ID", "npx wrangler whoami"],
    ["WORKFLOWS_NAMESPACE", "npx wrangler dispatch-namespace create"],
    ["WORKFLOWS_API_TOKEN", "npx wrangler secret put WORKFLOWS_API_TOKEN"],
  ])("of %s, when it is missing, says what to do", (name, command) => {
    const missing = { ...env.NAMESPACE_SETTINGS, [name]: " " };
    expect(() => namespaceSettings(missing)).toThrow(`${name} is not set`);
    expect(() => namespaceSettings(missing)).toThrow(command);
  });

  it("is nothing about the API's address, which has a default", () => {
    const { WORKFLOWS_API_URL: _, ...others } = env.NAMESPACE_SETTINGS;
    expect(namespaceSettings(others).apiUrl).toBe("https://api.cloudflare.com/client/v4");
    expect(SETTINGS.apiUrl).toBe("http://namespace/client/v4");
  });
});
