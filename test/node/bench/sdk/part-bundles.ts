/** How much an application loads of each entry of the package. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ENTRIES } from "../../../../src/cli/package/manifest.ts";
import { CommandError } from "../../../../src/cli/process/command.ts";
import { ROOT } from "../../../../src/cli/process/supervisor.ts";
import { gzippedBytes, modulesOf, without } from "../../../support/package-modules.ts";
import type { Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { count, table, verdict } from "../table.ts";

const CLIENT_GOAL = 15_000;

export async function measureBundles(_: SdkSubjects, { stop }: BenchOptions): Promise<Section> {
  const dist = await mkdtemp(path.join(tmpdir(), "atrium-bench-package-"));
  try {
    await build(dist, stop);
    const client = await modulesOf(dist, "client");
    const sizes = await Promise.all(
      Object.keys(ENTRIES).map(async (entry) => {
        const modules = await modulesOf(dist, entry);
        return { entry, bytes: gzippedBytes(modules), beyondClient: gzippedBytes(without(modules, client)) };
      }),
    );
    const rows = sizes.map(({ entry, bytes, beyondClient }) => {
      const isClient = entry === "client";
      const goal = isClient ? [`≤ ${count(CLIENT_GOAL)}`, verdict(bytes <= CLIENT_GOAL)] : ["", ""];
      return [`\`atrium/${entry}\``, count(bytes), isClient ? "" : count(beyondClient), ...goal];
    });
    const head = ["entry (bytes, minified, gzip)", "with all it imports", "beside the client", "goal", "ok"];
    return { markdown: table(head, rows), raw: { sizes } };
  } finally {
    await rm(dist, { recursive: true, force: true });
  }
}

async function build(dist: string, stop: AbortSignal): Promise<void> {
  const args = [path.join(ROOT, "src/cli/build.ts"), "--out", dist];
  const builder = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"], signal: stop });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    builder.once("error", reject).once("close", resolve);
  });
  if (exitCode !== 0) throw new CommandError("npm run build failed");
}
