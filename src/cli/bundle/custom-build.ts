/** wrangler's custom build: makes what the Worker imports and serves. */
import { bundleServedFiles } from "./served-files.ts";

await bundleServedFiles();
