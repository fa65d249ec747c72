/** Runs once around the network tests: starts the service that they share when the first of them asks for it. */
import type { TestProject } from "vitest/node";
import { makeOnce } from "./made-once.ts";
import { signInOwner } from "./owner.ts";
import { startService } from "./service.ts";

/** What the service reports when a test breaks off its request, as malformed-requests.test.ts does. */
const BROKEN_OFF = /Network connection lost/;

/** Fails the run when the service reported any other error. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const service = await makeOnce(async () => {
    const started = await startService();
    return { ...started, cookie: await signInOwner(started) };
  });
  provide("sharedServiceUrl", service.url);
  return async () => {
    service.close();
    const running = await service.made();
    if (running === undefined) return;
    await running.kill();
    const errors = running
      .stderr()
      .split("\n")
      .filter((line) => line.trim() !== "" && !BROKEN_OFF.test(line));
    if (errors.length > 0) throw new Error(`The shared service wrote to stderr:\n${errors.join("\n")}`);
  };
}
