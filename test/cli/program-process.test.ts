/** What the system lets a process for programs have. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeStarter, type ProgramProcess } from "../../src/cli/service/pool/program-process.ts";

const DATA_MB = 1024;

/** A process whose Worker does this as it starts. */
async function start(source: string): Promise<ProgramProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-process-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const config = path.join(folder, "workerd.capnp");
  const code = JSON.stringify(`${source}; export default {};`);
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .main)], sockets = []);
const main :Workerd.Worker = (
  modules = [(name = "main.js", esModule = ${code})],
  compatibilityDate = "2026-10-01",
);
`,
  );
  const process = makeStarter(folder, config, DATA_MB)();
  onTestFinished(() => process.kill());
  return process;
}

/** Allocates so much outside of V8's heap. */
const holding = (mib: number) =>
  `const kept = Array.from({ length: ${mib} }, () => new Uint8Array(1024 * 1024))`;

it("is enough for what programs may use", async () => {
  await (await start(holding(256))).ready;
});

it.runIf(process.platform === "linux")(
  "ends one that takes more memory outside of its heap, however fast it does",
  async () => {
    const greedy = await start(holding(1024));
    await expect(greedy.ready).rejects.toThrow("could not start");
    expect(await greedy.ended).toBe(true);
  },
);
