/** Wrangler's custom build: what must be there before the Worker is served or published. */
import { bundleDemo } from "./demo-bundle.ts";
import { bundleGuest } from "./guest-bundle.ts";

await Promise.all([bundleDemo(), bundleGuest()]);
