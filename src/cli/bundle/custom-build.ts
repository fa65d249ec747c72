/** wrangler's custom build: makes what the Worker imports and serves. */
import { bundleServedFiles } from "./served-files.ts";

await bundleServedFiles();
if (process.env.WRANGLER_COMMAND === "dev") {
  console.warn(
    "wrangler dev runs workflows in the service's own process: only their wall time is bounded, and an endless " +
      "loop stops everything. npm start gives each a process of its own.",
  );
}
