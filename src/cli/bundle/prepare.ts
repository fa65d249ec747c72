/** Bundles the pages and the Worker ahead of the first start, as the Dockerfile does. */
import { runCommand } from "../process/command.ts";
import { bundleCurrentWorker } from "./worker-bundle.ts";

await runCommand(
  async (stop) => {
    await bundleCurrentWorker(stop);
  },
  { help: "Bundles the pages and the Worker, so that the first start need not." },
);
