/** A copy of the checkout as fresh from git: it neither has nor changes this one's secrets and data. */
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ROOT } from "./processes.ts";

const COPIED = [
  "src",
  "packages",
  "examples/demo",
  "docs",
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "migrations",
  "wrangler.toml",
  "atrium.example.toml",
  "package.json",
  "tsconfig.json",
];

export interface Checkout {
  readonly root: string;
  /** A path in the copy. */
  readonly at: (...parts: string[]) => string;
  readonly remove: () => Promise<void>;
}

/** Copies the files that the commands read. The packages are only linked: nothing writes to them. */
export async function copyCheckout(): Promise<Checkout> {
  const root = await mkdtemp(path.join(tmpdir(), "atrium-checkout-"));
  for (const name of COPIED) await cp(path.join(ROOT, name), path.join(root, name), { recursive: true });
  await symlink(path.join(ROOT, "node_modules"), path.join(root, "node_modules"));
  return {
    root,
    at: (...parts) => path.join(root, ...parts),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
