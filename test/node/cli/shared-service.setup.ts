/** Runs once around the network tests: prepares a state folder, and starts the service that they share, when a test asks. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { isProvoked } from "../../support/runtime-lines.ts";
import { makeOnce } from "./made-once.ts";
import { signInOwner } from "./owner.ts";
import { startService } from "./service.ts";
import { preparedStateAt } from "./shared-service.ts";

/** Error that the service reports when a test breaks off its request, as malformed-requests.test.ts does. */
const BROKEN_OFF = /Network connection lost/;
/** The stack of the error in the line before. */
const STACK = /^stack: /;

/** Fails the run when the service reported any other error. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-prepared-state-"));
  const state = await makeOnce(async () => {
    const persistTo = path.join(folder, "state");
    const service = await startService({ persistTo });
    await service.stop();
    return persistTo;
  });
  const service = await makeOnce(async () => {
    const started = await startService({ preparedState: await preparedStateAt(state.url) });
    return { ...started, cookie: await signInOwner(started) };
  });
  provide("preparedStateUrl", state.url);
  provide("sharedServiceUrl", service.url);
  return async () => {
    state.close();
    service.close();
    await state.made()?.catch(() => undefined); // the tests that asked have already failed
    await rm(folder, { recursive: true, force: true });
    const running = await service.made();
    if (running === undefined) return;
    await running.kill();
    const errors = running
      .stderr()
      .split("\n")
      .filter(
        (line) =>
          line.trim() !== "" &&
          ![BROKEN_OFF, STACK].some((expected) => expected.test(line)) &&
          !isProvoked(line),
      );
    if (errors.length > 0) throw new Error(`The shared service wrote to stderr:\n${errors.join("\n")}`);
  };
}
