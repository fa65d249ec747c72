/** `fetch` inside a run: the platform's own requests and responses, with every address checked. */
import { env } from "cloudflare:workers";
import { afterAll, describe, expect, inject, it } from "vitest";
import { selectRunner } from "../../src/sandbox/runners/select-runner.ts";
import type { Received } from "../support/receiver.ts";
import { type RunOptions, runProgram, stage } from "./support.ts";

const { port } = inject("receiver");
const RECEIVER = `http://127.0.0.1:${port}`;
const runner = selectRunner(env);
afterAll(() => runner[Symbol.dispose]?.());
const at = await stage();

async function answer(body: string, options: RunOptions = {}): Promise<unknown> {
  const source = `const RECEIVER = ${JSON.stringify(RECEIVER)};\nexport default async () => {\n${body}\n};`;
  const report = await runProgram(runner, at, source, options);
  if (report.status === "failed") throw new Error(report.result);
  return JSON.parse(report.result);
}

const refusal = (expression: string, options: RunOptions = {}) =>
  answer(`return ${expression}.then(() => "done", (error) => error.message);`, options);

const received = async (name: string): Promise<readonly Received[]> =>
  (await fetch(`${RECEIVER}/received/${name}`)).json();

/** A path of the receiver that redirects. */
const redirect = (status: number, location: string) =>
  `/status/${status}?Location=${encodeURIComponent(location)}`;

describe("fetch", () => {
  it("returns a Response of the platform's own class", async () => {
    const body = `
      const response = await fetch(RECEIVER + "/status/201?X-Answer=yes");
      return [response instanceof Response, response.status, response.ok, response.headers.get("x-answer"), await response.text(), response.url, response.redirected];`;
    const url = `${RECEIVER}/status/201?X-Answer=yes`;
    expect(await answer(body)).toEqual([true, 201, true, "yes", "answer 201", url, false]);
  });

  it.each([
    ["a text", "'Grüße'", "Grüße", "text/plain;charset=UTF-8"],
    ["a Blob", "new Blob(['a', 'b'], { type: 'text/csv' })", "ab", "text/csv"],
    ["bytes", "new Uint8Array([72, 105])", "Hi", undefined],
    [
      "parameters",
      "new URLSearchParams({ a: 'b c' })",
      "a=b+c",
      "application/x-www-form-urlencoded;charset=UTF-8",
    ],
    ["a stream", "new Response('from a stream').body", "from a stream", undefined],
  ])("sends %s", async (_, data, body, contentType) => {
    const name = crypto.randomUUID();
    await answer(`await fetch(RECEIVER + "/ok/${name}", { method: "POST", body: ${data} });`);
    expect(await received(name)).toEqual([expect.objectContaining({ method: "POST", body })]);
    expect((await received(name))[0]?.headers["content-type"]).toBe(contentType);
  });

  it("sends a form", async () => {
    const name = crypto.randomUUID();
    await answer(`
      const form = new FormData();
      form.append("a", "b");
      form.append("file", new File(["Hello"], "a.txt"));
      await fetch(new Request(RECEIVER + "/ok/${name}", { method: "PUT", body: form, headers: { "X-Own": "yes" } }));`);
    const [message] = await received(name);
    expect(message).toMatchObject({
      method: "PUT",
      body: expect.stringContaining("Hello"),
      headers: { "x-own": "yes" },
    });
    expect(message?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
  });

  it("follows redirects, and returns the final URL", async () => {
    const path = redirect(302, redirect(301, "/sized/3"));
    const body = `const r = await fetch(RECEIVER + ${JSON.stringify(path)}); return [await r.text(), r.url, r.redirected];`;
    expect(await answer(body)).toEqual(["ééé", `${RECEIVER}/sized/3`, true]);
  });

  it.each([
    [303, "GET", ""],
    [302, "GET", ""],
    [307, "POST", "again"],
    [308, "POST", "again"],
  ])("follows a %i after a POST as a %s", async (status, method, sent) => {
    const name = crypto.randomUUID();
    const path = redirect(status, `/ok/${name}`);
    await answer(`await fetch(RECEIVER + ${JSON.stringify(path)}, { method: "POST", body: "again" });`);
    const { headers, ...message } = (await received(name))[0] ?? { headers: {} };
    expect(message).toMatchObject({ method, body: sent });
    expect("content-type" in headers).toBe(method === "POST");
  });

  it("sends no credentials to another origin after a redirect", async () => {
    const name = crypto.randomUUID();
    const path = redirect(302, `${RECEIVER.replace("127.0.0.1", "localhost")}/ok/${name}`);
    const headers = `{ Authorization: "Bearer a", Cookie: "b", "X-Own": "c" }`;
    await answer(`await fetch(RECEIVER + ${JSON.stringify(path)}, { headers: ${headers} });`, {
      devTargets: ["127.0.0.1", "localhost"],
    });
    const [message] = await received(name);
    expect(message?.headers).toMatchObject({ "x-own": "c" });
    expect(message?.headers).not.toHaveProperty("authorization");
    expect(message?.headers).not.toHaveProperty("cookie");
  });

  it("checks the target of each redirect", async () => {
    const path = redirect(302, "https://169.254.169.254/");
    expect(await refusal(`fetch(RECEIVER + ${JSON.stringify(path)})`)).toBe(
      "fetch: The URL must not be a private or reserved address",
    );
  });

  it("follows no redirect in the modes manual and error", async () => {
    const path = JSON.stringify(redirect(302, "/ok/a"));
    expect(await answer(`return (await fetch(RECEIVER + ${path}, { redirect: "manual" })).status;`)).toBe(
      302,
    );
    expect(await refusal(`fetch(RECEIVER + ${path}, { redirect: "error" })`)).toBe(
      "fetch: The server answered with a redirect",
    );
  });

  it("follows twenty redirects at most", async () => {
    let hops = 0;
    const onward = async () => {
      hops += 1;
      return new Response(null, { status: 302, headers: { Location: `/${hops}` } });
    };
    expect(await refusal(`fetch("https://example.com/")`, { fetch: onward })).toBe(
      "fetch: The request was redirected more than 20 times",
    );
    expect(hops).toBe(21);
  });

  it("can be aborted", async () => {
    const body = `fetch(RECEIVER + "/silent", { signal: AbortSignal.timeout(20) })`;
    expect(await answer(`return ${body}.catch((error) => error.name);`)).toBe("TimeoutError");
    expect(await answer(`return fetch(RECEIVER, { signal: AbortSignal.abort("no") }).catch(String);`)).toBe(
      "no",
    );
  });

  it("streams the response", async () => {
    const body = `
      const { body } = await fetch(RECEIVER + "/dribble");
      const reader = body.getReader();
      const { value } = await reader.read();
      await reader.cancel();
      return value.length > 0;`;
    expect(await answer(body)).toBe(true);
  });

  it("ends with the run, even with a response in flight", async () => {
    expect(await answer(`fetch(RECEIVER + "/silent"); await fetch(RECEIVER + "/dribble"); return 1;`)).toBe(
      1,
    );
    expect(await answer(`return (await fetch(RECEIVER + "/ok/a")).text();`)).toBe("ok");
  });

  it("rejects when the connection fails", async () => {
    const { closedPort } = inject("receiver");
    expect(await refusal(`fetch("http://127.0.0.1:${closedPort}/")`)).toBe(
      "fetch: The server could not be reached, or ended the connection",
    );
  });

  it("rejects a request body over 8 MiB", async () => {
    const init = `{ method: "POST", body: new Uint8Array(8 * 1024 * 1024 + 1) }`;
    expect(await refusal(`fetch(RECEIVER + "/ok/a", ${init})`)).toBe(
      "fetch: The request body may have at most 8388608 bytes",
    );
  });

  it("accepts and rejects the same arguments as elsewhere", async () => {
    expect(await answer(`return (await fetch(new URL(RECEIVER + "/ok/a#b"))).status;`)).toBe(200);
    expect(await refusal(`fetch("nowhere")`)).toMatch(/Invalid URL|Fetch API cannot load/);
    expect(await refusal("fetch()")).toEqual(expect.any(String));
  });
});
