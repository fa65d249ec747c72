/** What is bundled beside the Worker: the pages of /demo and /dashboard, and what runs beside workflows. */
import { createHash } from "node:crypto";
import { access, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "../service/wrangler.ts";
import { bundleDashboard } from "./dashboard-bundle.ts";
import { bundleDemo } from "./demo-bundle.ts";
import { bundleGuest } from "./guest-bundle.ts";

/** What the bundles were made from. */
const STAMP = path.join(ROOT, ".wrangler/served-files");
const MADE = ["public/demo.html", "public/dashboard/index.html", "guest/harness.txt"].map((file) =>
  path.join(ROOT, ".wrangler", file),
);

/** Bundles them, unless that was done since a file of theirs has changed: each start of the service asks for it. */
export async function bundleServedFiles(): Promise<void> {
  const sources = await fingerprint();
  const made = await readFile(STAMP, "utf8").catch(() => "");
  if (made === sources && (await areThere(MADE))) return;
  await Promise.all([bundleDemo(), bundleDashboard(), bundleGuest()]);
  await writeFile(STAMP, sources);
}

/** What npm has installed last. */
const PACKAGES = path.join(ROOT, "node_modules/.package-lock.json");

/** Of all that could matter: the sources, and the packages. */
async function fingerprint(): Promise<string> {
  const entries = await readdir(path.join(ROOT, "src"), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  const hash = createHash("sha256");
  for (const file of [...files.sort(), PACKAGES]) {
    const facts = await stat(file).catch(() => null); // another package manager leaves another file
    hash.update(`${path.relative(ROOT, file)} ${facts?.size} ${facts?.mtimeMs}\n`);
  }
  return hash.digest("hex");
}

const areThere = (files: readonly string[]): Promise<boolean> =>
  Promise.all(files.map((file) => access(file))).then(
    () => true,
    () => false,
  );
